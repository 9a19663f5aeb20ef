/* Kinds of sockets that a network namespace does not keep apart, or that hardly anybody tests. */
#include "attack.h"

int main(void) {
  int families[] = {40 /* vsock */, 38 /* alg */, 17 /* packet */, 31 /* bluetooth */, 16 + 0x100};
  for (int i = 0; i < 5; i++)
    if (socket(families[i], i == 1 ? SOCK_SEQPACKET : i == 2 ? SOCK_RAW : SOCK_STREAM, 0) >= 0) through("socket");
  TRY(socket(AF_INET, SOCK_RAW, 1));
}
