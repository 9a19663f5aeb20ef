/* Touches a gigabyte. */
#include "attack.h"

int main(void) {
  for (int i = 0; i < 1024; i++) {
    char *bytes = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) refused("mmap");
    memset(bytes, 1, 1 << 20);
  }
  through("1 GiB");
}
