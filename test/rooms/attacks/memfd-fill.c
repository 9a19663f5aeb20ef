/* Files that are only memory. */
#include "attack.h"

int main(void) {
  static char bytes[1 << 20];
  memset(bytes, 1, sizeof bytes);
  int fd = memfd_create("attack", 0);
  for (int i = 0; i < 1024; i++)
    if (write(fd, bytes, sizeof bytes) < 0) refused("write");
  through("1 GiB");
}
