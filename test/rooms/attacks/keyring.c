/* Keys stay with a user, from one room to the next. */
#include "attack.h"

int main(void) { TRY(syscall(SYS_add_key, "user", "windlass-attack", "x", 1, -4)); }
