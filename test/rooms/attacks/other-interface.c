/* System calls by the numbers of another architecture. */
#include "attack.h"

int main(void) {
#ifdef __x86_64__
  if (syscall(0x40000000L + 39) > 0) through("x32");
  long pid = 20;
  __asm__ volatile("int $0x80" : "+a"(pid) : : "memory", "r8", "r9", "r10", "r11");
  if (pid == getpid()) through("32 bit");
#endif
  refused("another interface");
}
