/* Orphans that die at once: without somebody who buries them they fill the table of processes. */
#include "attack.h"

int main(void) {
  for (int i = 0; i < 1500; i++) {
    pid_t pid = fork();
    for (int again = 0; pid < 0 && again < 500; again++) {
      usleep(2000);
      pid = fork();
    }
    if (pid < 0) through("nobody buries the dead");
    if (pid == 0) {
      fork();
      _exit(0);
    }
    waitpid(pid, NULL, 0);
  }
  _exit(7);
}
