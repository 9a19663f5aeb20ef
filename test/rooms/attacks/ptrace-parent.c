/* Takes hold of its parent, and of process 1. */
#include "attack.h"

int main(void) {
  if (ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0) through("ptrace of the parent");
  TRY(ptrace(PTRACE_SEIZE, 1, 0, 0));
}
