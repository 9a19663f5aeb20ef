/* Files with nothing in them. */
#include "attack.h"

int main(void) {
  char name[32];
  for (int i = 0; i < 1000000; i++) {
    snprintf(name, sizeof name, "f%d", i);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    if (fd < 0) refused("open");
    close(fd);
  }
  through("a million files");
}
