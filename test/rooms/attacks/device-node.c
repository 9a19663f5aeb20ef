/* Makes its own way to a disk. */
#include "attack.h"

#include <sys/sysmacros.h>
int main(void) { TRY(mknod("disk", S_IFBLK | 0666, makedev(254, 0))); }
