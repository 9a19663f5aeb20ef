/* Several threads that only count. */
#include "attack.h"

static void *burn(void *none) {
  for (volatile long i = 0;; i++) {}
  return none;
}
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, burn, NULL);
  burn(NULL);
}
