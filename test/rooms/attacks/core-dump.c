/* Dies with its memory on disk. */
#include "attack.h"

int main(void) {
  struct rlimit core;
  getrlimit(RLIMIT_CORE, &core);
  core.rlim_cur = core.rlim_max;
  setrlimit(RLIMIT_CORE, &core);
  abort();
}
