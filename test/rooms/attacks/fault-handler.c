/* Holds the kernel up in the middle of a copy. */
#include "attack.h"

int main(void) { TRY(syscall(SYS_userfaultfd, 1 | O_CLOEXEC)); }
