/* The time, for everybody. */
#include "attack.h"

int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  TRY(clock_settime(CLOCK_REALTIME, &now));
}
