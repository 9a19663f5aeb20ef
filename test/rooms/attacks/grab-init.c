/* Reads and writes process 1 and takes its open files by system calls, without /proc, and leaves it no file, memory or stack. */
#include "attack.h"

#define MOST_FILES 64

int main(void) {
  char byte;
  struct iovec here = {&byte, 1};
  /* The kernel checks the caller's rights first: EFAULT means that only the address was wrong. */
  for (unsigned long at = 0x400000; at > 0; at = at == 0x400000 ? 0x10000 : 0) {
    struct iovec there = {(void *)at, 1};
    if (syscall(SYS_process_vm_readv, 1, &here, 1, &there, 1, 0) == 1 || errno == EFAULT) through("process_vm_readv of process 1");
    if (syscall(SYS_process_vm_writev, 1, &here, 1, &there, 1, 0) == 1 || errno == EFAULT) through("process_vm_writev of process 1");
  }
  int init = syscall(SYS_pidfd_open, 1, 0);
  for (int fd = 0; init >= 0 && fd < MOST_FILES; fd++)
    if (syscall(SYS_pidfd_getfd, init, fd, 0) >= 0 || errno == EBADF) through("pidfd_getfd of process 1");
  /* Process 1 of a room has the user of the command, so these may work. The end must be reported as it is all the same. */
  struct rlimit none = {0, 0};
  int limits[] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_FSIZE, RLIMIT_NPROC};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) syscall(SYS_prlimit64, 1, limits[i], &none, NULL);
  if (ptrace(PTRACE_ATTACH, 1, 0, 0) == 0) through("ptrace of process 1");
  refused("ptrace");
}
