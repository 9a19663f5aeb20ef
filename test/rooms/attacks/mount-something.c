/* Changes what lies where. */
#include "attack.h"

int main(void) {
  if (mount("none", "/tmp", "tmpfs", 0, NULL) == 0) through("mount");
  if (syscall(SYS_fsopen, "tmpfs", 0) >= 0) through("fsopen");
  TRY(umount2("/proc", MNT_DETACH));
}
