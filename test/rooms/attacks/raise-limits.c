/* More open files, and core dumps. */
#include "attack.h"

int main(void) {
  struct rlimit files = {100000, 100000}, core = {RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_NOFILE, &files) == 0) through("open files");
  TRY(setrlimit(RLIMIT_CORE, &core));
}
