/* Programs that run as root, whoever starts them. */
#include "attack.h"

int main(void) {
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) refused("no new privileges");
  through("setuid programs work");
}
