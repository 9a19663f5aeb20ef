/* Forks until it is told no, and keeps them all. */
#include "attack.h"

int main(void) {
  for (int i = 0; i < 400; i++) {
    pid_t pid = fork();
    if (pid < 0) refused("fork");
    if (pid == 0) for (;;) pause();
  }
  through("400 processes");
}
