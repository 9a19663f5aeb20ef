/* A daemon in all ways: new session, no parent, no environment, nothing open. Is it there when all is over? */
#include "attack.h"

int main(void) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      clearenv();
      for (int fd = 0; fd < 64; fd++) close(fd);
      execle("/bin/sleep", "sleep", "300", NULL, (char *[]){NULL});
    }
    _exit(0);
  }
  wait(NULL);
  _exit(7);
}
