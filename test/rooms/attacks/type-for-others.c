/* Puts words into a terminal. */
#include "attack.h"

int main(void) {
  int fd = posix_openpt(O_RDWR | O_NOCTTY);
  char letter = 'x';
  if (fd < 0 || unlockpt(fd) != 0) refused("pty");
  setsid();
  int side = open(ptsname(fd), O_RDWR);
  if (side < 0) refused("open");
  ioctl(side, TIOCSCTTY, 0);
  TRY(ioctl(side, TIOCSTI, &letter));
}
