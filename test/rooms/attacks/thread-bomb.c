/* Threads count as processes do. */
#include "attack.h"

static void *wait_for_ever(void *none) {
  for (;;) pause();
  return none;
}
int main(void) {
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int i = 0; i < 400; i++)
    if ((errno = pthread_create(&thread, &small, wait_for_ever, NULL)) != 0) refused("pthread_create");
  through("400 threads");
}
