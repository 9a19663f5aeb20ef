import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Reads a value until it has stayed the same for a while. A value that is taken too early can only be too small:
 * suitable for upper bounds, whatever the machine's speed.
 */
export async function untilSteady(read: () => number | Promise<number>): Promise<number> {
  let last = await read()
  for (let unchanged = 0; unchanged < 25; unchanged++) {
    await sleep(10)
    const now = await read()
    if (now !== last) unchanged = 0
    last = now
  }
  return last
}
