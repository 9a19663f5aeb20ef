/* What was left open by who started this. */
#include "attack.h"

int main(void) {
  for (int fd = 3; fd < 1024; fd++)
    if (fcntl(fd, F_GETFD) >= 0) through("an open file");
  refused("nothing");
}
