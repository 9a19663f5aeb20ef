/* A terabyte that takes no space. */
#include "attack.h"

int main(void) {
  int fd = open("f", O_CREAT | O_RDWR, 0600);
  TRY(ftruncate(fd, 1L << 40));
}
