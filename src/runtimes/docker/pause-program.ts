import { endianness } from 'node:os'

/**
 * A program that waits forever in any image: a Linux executable of a few instructions, encoded here so that nothing has
 * to be compiled. It holds a container's network namespace while the network is configured.
 */
const WAITING: Readonly<Record<string, { readonly machine: number; readonly code: readonly number[] }>> = {
  // mov eax, SYS_pause; syscall; jmp back
  x64: { machine: 62, code: [0xb8, 0x22, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7] },
  // x0..x4 = 0; x8 = SYS_ppoll; svc 0; b back. This architecture has no pause(2).
  arm64: {
    machine: 183,
    code: [0xd2800000, 0xd2800001, 0xd2800002, 0xd2800003, 0xd2800004, 0xd2800928, 0xd4000001, 0x17fffff9].flatMap(
      (word) => [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24],
    ),
  },
}

const FILE_HEADER_BYTES = 64
const PROGRAM_HEADER_BYTES = 56
const LOADED_AT = 0x40_0000

/** Undefined for other architectures. */
export function pauseProgram(arch: string): Uint8Array | undefined {
  const waiting = WAITING[arch]
  if (waiting === undefined || endianness() !== 'LE') return undefined
  const start = FILE_HEADER_BYTES + PROGRAM_HEADER_BYTES
  const file = Buffer.alloc(start + waiting.code.length)
  // elf(5): 64 bits, little endian, an executable with one segment that is readable and executable.
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  file.writeUInt16LE(2, 16)
  file.writeUInt16LE(waiting.machine, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(BigInt(LOADED_AT + start), 24)
  file.writeBigUInt64LE(BigInt(FILE_HEADER_BYTES), 32)
  file.writeUInt16LE(FILE_HEADER_BYTES, 52)
  file.writeUInt16LE(PROGRAM_HEADER_BYTES, 54)
  file.writeUInt16LE(1, 56)
  file.writeUInt32LE(1, FILE_HEADER_BYTES)
  file.writeUInt32LE(5, FILE_HEADER_BYTES + 4)
  for (const at of [16, 24]) file.writeBigUInt64LE(BigInt(LOADED_AT), FILE_HEADER_BYTES + at)
  for (const at of [32, 40]) file.writeBigUInt64LE(BigInt(file.length), FILE_HEADER_BYTES + at)
  file.writeBigUInt64LE(0x1000n, FILE_HEADER_BYTES + 48)
  file.set(waiting.code, start)
  return file
}
