/** Reusable buffers: new memory for every answer would cost more than filling it. */
const LEAST_BYTES = 64 * 1024
const free = new Map<number, Buffer[]>()

/** Returns a buffer of at least this size, rounded up to a power of two. */
export function borrow(bytes: number): Buffer {
  const size = Math.max(LEAST_BYTES, 2 ** Math.ceil(Math.log2(bytes)))
  return free.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
}

export function giveBack(buffer: Buffer): void {
  const known = free.get(buffer.length)
  if (known === undefined) free.set(buffer.length, [buffer])
  else known.push(buffer)
}
