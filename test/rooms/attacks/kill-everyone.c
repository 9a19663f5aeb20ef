/* One signal for all that may be signalled. */
#include "attack.h"

int main(void) {
  int others = kill(-1, 0);
  kill(-1, SIGKILL);
  if (others == 0) _exit(7);
  refused("kill(-1)");
}
