/* And by one whose arguments no filter sees. */
#include "attack.h"

#include <linux/sched.h>
int main(void) {
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  TRY(syscall(SYS_clone3, &args, sizeof args));
}
