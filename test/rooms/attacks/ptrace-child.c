/* Debugs a child of its own: harmless, but a wide door into the kernel. */
#include "attack.h"

int main(void) {
  pid_t pid = fork();
  if (pid == 0) for (;;) pause();
  TRY(ptrace(PTRACE_SEIZE, pid, 0, 0));
}
