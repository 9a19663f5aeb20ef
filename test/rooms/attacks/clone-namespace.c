/* The same by another call. */
#include "attack.h"

static int child(void *none) { return none != NULL; }
int main(void) {
  static char stack[65536];
  TRY(clone(child, stack + sizeof stack, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD, NULL));
}
