/* Closes devices and its own streams to everybody, for whoever uses them next. */
#include "attack.h"

int main(void) {
  const char *names[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty"};
  for (int i = 0; i < 4; i++)
    if (chmod(names[i], 0666) == 0) through(names[i]);
  for (int fd = 0; fd < 64; fd++) {
    struct stat found;
    if (fstat(fd, &found) == 0 && S_ISCHR(found.st_mode) && fchmod(fd, 0666) == 0) through("a device that was open");
  }
  for (int fd = 1; fd < 3; fd++) fchmod(fd, 0);
  refused("chmod");
}
