/* A file that nobody finds any more. */
#include "attack.h"

int main(void) {
  static char bytes[1 << 16];
  int fd = open("f", O_CREAT | O_RDWR, 0600);
  unlink("f");
  for (int i = 0; i < 4096; i++) {
    if (write(fd, bytes, sizeof bytes) < 0) refused("write");
    usleep(1000);
  }
  through("256 MiB");
}
