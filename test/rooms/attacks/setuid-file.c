/* Leaves a program behind that runs as its owner. */
#include "attack.h"

int main(void) {
  close(open("tool", O_CREAT | O_WRONLY, 0755));
  if (chmod("tool", 04755) == 0) through("chmod");
  int fd = open("other", O_CREAT | O_WRONLY, 04755);
  struct stat found;
  if (fd >= 0 && fstat(fd, &found) == 0 && (found.st_mode & S_ISUID)) through("open");
  refused("chmod");
}
