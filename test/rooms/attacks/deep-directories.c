/* Deeper than any path reaches: who removes that? */
#include "attack.h"

int main(void) {
  char name[201];
  memset(name, 'd', 200);
  name[200] = 0;
  for (int i = 0; i < 200; i++)
    if (mkdir(name, 0700) != 0 || chdir(name) != 0) refused("mkdir");
  close(open("at the bottom", O_CREAT | O_WRONLY, 0600));
  _exit(7);
}
