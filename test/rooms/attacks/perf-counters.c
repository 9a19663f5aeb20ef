/* Sees what others do by how long it takes. */
#include "attack.h"

#include <linux/perf_event.h>
int main(void) {
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1};
  TRY(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}
