/* Ignores every signal that can be ignored, and stays. */
#include "attack.h"

int main(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
  for (;;) sleep(60);
}
