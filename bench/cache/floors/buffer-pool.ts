/** Memory that is used again: fresh pages for every answer would cost more than filling them. */
const LEAST_BYTES = 64 * 1024
const free = new Map<number, Buffer[]>()

/** At least this long, up to the next power of two. */
export function borrow(bytes: number): Buffer {
  const size = Math.max(LEAST_BYTES, 2 ** Math.ceil(Math.log2(bytes)))
  return free.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
}

export function giveBack(buffer: Buffer): void {
  const known = free.get(buffer.length)
  if (known === undefined) free.set(buffer.length, [buffer])
  else known.push(buffer)
}
