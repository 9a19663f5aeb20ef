/* Another kernel, or a part of one. */
#include "attack.h"

int main(void) {
  if (syscall(SYS_kexec_load, 0, 0, NULL, 0) == 0) through("kexec_load");
  TRY(syscall(SYS_init_module, "", 0, ""));
}
