/* Reads, and could change, the memory of its parent: of use if that one may do more. */
#include "attack.h"

static void rights_of(int pid, char *rights, size_t size) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "r");
  rights[0] = 0;
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "Seccomp", 7) == 0 || strncmp(line, "NoNew", 5) == 0)
      strncat(rights, line, size - strlen(rights) - 1);
}

int main(void) {
  char path[64], ours[2048], theirs[2048];
  snprintf(path, sizeof path, "/proc/%d/mem", getppid());
  if (open(path, O_RDWR) < 0) refused("open");
  rights_of(getpid(), ours, sizeof ours);
  rights_of(getppid(), theirs, sizeof theirs);
  printf("%s---\n%s", ours, theirs);
  if (strcmp(ours, theirs) == 0) refused("the parent is of this room, and may do no more");
  through("a parent that may do more");
}
