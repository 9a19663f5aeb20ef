/* A library for every program that is started with this environment, the one that makes the room included. */
#include "attack.h"

__attribute__((constructor)) static void loaded(void) {
  char path[4096];
  const char *folder = getenv("ATTACK_ROOM");
  if (folder == NULL) return;
  snprintf(path, sizeof path, "%s/loaded-outside", folder);
  close(open(path, O_CREAT | O_WRONLY, 0666));
}
int main(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/loaded-outside", getenv("ATTACK_ROOM"));
  if (access("loaded-outside", F_OK) == 0) through("the library was loaded where the room's path on the machine is known");
  refused("nothing was loaded");
}
