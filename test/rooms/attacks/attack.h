/* Every attack ends in one of three ways: it got through (0), it was refused (7), or it was ended from outside. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void through(const char *what) {
  printf("through: %s\n", what);
  fflush(stdout);
  _exit(0);
}

static inline void refused(const char *what) {
  printf("refused: %s: %s\n", what, strerror(errno));
  fflush(stdout);
  _exit(7);
}

/* Gets through when the call does. */
#define TRY(call)                                                                                                     \
  do {                                                                                                                 \
    if ((long)(call) >= 0) through(#call);                                                                             \
    refused(#call);                                                                                                    \
  } while (0)
