/* Before everything else, for ever. */
#include "attack.h"

int main(void) {
  struct sched_param most = {.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &most) == 0) through("sched_setscheduler");
  TRY(setpriority(PRIO_PROCESS, 0, -20));
}
