/* A second name, in the room, for a file outside. */
#include "attack.h"

int main(void) {
  if (linkat(AT_FDCWD, getenv("ATTACK_FILE"), AT_FDCWD, "out", 0) == 0) through("link to another room");
  TRY(linkat(AT_FDCWD, "/etc/shadow", AT_FDCWD, "out", 0));
}
