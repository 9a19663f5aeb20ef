/* Another name for the machine. */
#include "attack.h"

int main(void) { TRY(sethostname("attack", 6)); }
