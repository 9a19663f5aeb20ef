/* All rights, in a world of its own. */
#include "attack.h"

int main(void) { TRY(unshare(CLONE_NEWUSER)); }
