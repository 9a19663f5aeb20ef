/* Closes its output and stays: who waits for the end of the output waits for ever. */
#include "attack.h"

int main(void) {
  for (int fd = 0; fd < 64; fd++) close(fd);
  for (;;) pause();
}
