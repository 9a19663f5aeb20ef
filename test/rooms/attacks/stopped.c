/* Stops itself, and a child: neither will ever end by itself. */
#include "attack.h"

int main(void) {
  if (fork() == 0) raise(SIGSTOP);
  raise(SIGSTOP);
  for (;;) pause();
}
