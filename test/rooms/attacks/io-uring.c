/* System calls that no filter sees. */
#include "attack.h"

int main(void) {
  char params[120] = {0};
  TRY(syscall(SYS_io_uring_setup, 4, params));
}
