/* Who started this, and who started everything. */
#include "attack.h"

int main(void) {
  pid_t parent = getppid();
  int one = kill(1, SIGKILL), other = parent > 1 ? kill(parent, SIGKILL) : -1;
  usleep(100000);
  if (getppid() != parent) through("the parent is dead");
  if (one == 0 || other == 0) _exit(7); /* sent, and without effect */
  refused("kill");
}
