/* Shared memory outlives who made it. */
#include "attack.h"

int main(void) {
  static char bytes[1 << 20];
  memset(bytes, 1, sizeof bytes);
  int fd = open("/dev/shm/windlass-attack", O_CREAT | O_RDWR, 0600);
  if (fd < 0) refused("open");
  for (int i = 0; i < 256; i++)
    if (write(fd, bytes, sizeof bytes) < 0) refused("write");
  through("256 MiB in /dev/shm");
}
