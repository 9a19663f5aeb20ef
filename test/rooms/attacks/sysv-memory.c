/* A segment that stays when its maker is gone, for anybody to read. */
#include "attack.h"

int main(void) {
  int id = shmget(0x57494e44, 4096, IPC_CREAT | 0666);
  if (id < 0) refused("shmget");
  char *bytes = shmat(id, NULL, 0);
  strcpy(bytes, "left behind");
  _exit(7); /* the machine is looked at when all is over */
}
