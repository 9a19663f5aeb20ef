import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const MOST_ROUNDS = 20
const STEADY_ROUNDS = 4

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

/**
 * The memory of objects and buffers after garbage collection. Buffers are freed in the background, so it is measured
 * until it no longer decreases.
 */
export async function heldBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0, steady = 0; round < MOST_ROUNDS && steady < STEADY_ROUNDS; round++) {
    collectGarbage()
    await turn()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    steady = heapUsed + arrayBuffers < least ? 0 : steady + 1
    least = Math.min(least, heapUsed + arrayBuffers)
  }
  return least
}
