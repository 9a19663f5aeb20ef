/* Writes to the memory of process 1, which tells the worker how the command ended. */
#include "attack.h"

int main(void) {
  unsigned long start;
  char byte;
  FILE *maps = fopen("/proc/1/maps", "r");
  if (maps == NULL) refused("open /proc/1/maps");
  if (fscanf(maps, "%lx", &start) != 1) refused("read /proc/1/maps");
  int memory = open("/proc/1/mem", O_RDWR);
  if (memory < 0) refused("open /proc/1/mem");
  if (pread(memory, &byte, 1, start) != 1) refused("read /proc/1/mem");
  TRY(pwrite(memory, &byte, 1, start) == 1 ? 0 : -1);
}
