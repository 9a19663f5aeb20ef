/* The old way out of a root. */
#include "attack.h"

int main(void) {
  mkdir("x", 0700);
  TRY(chroot("x"));
}
