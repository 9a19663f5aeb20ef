/* None needs much: all together do. */
#include "attack.h"

int main(void) {
  for (int i = 0; i < 16; i++) {
    if (fork() != 0) continue;
    char *bytes = mmap(NULL, 24 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(bytes, 1, 24 << 20);
    for (;;) pause();
  }
  sleep(4);
  for (int i = 0; i < 16; i++)
    if (waitpid(-1, NULL, WNOHANG) > 0) _exit(9); /* one was killed: the reason must be told */
  through("384 MiB in 16 processes");
}
