/* By asking. */
#include "attack.h"

int main(void) {
  if (setuid(0) == 0) through("setuid");
  close(open("f", O_CREAT | O_WRONLY, 0600));
  TRY(chown("f", 0, 0));
}
