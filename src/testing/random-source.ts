export interface Random {
  /** An integer from 0 up to but not including `end`. */
  below(end: number): number
  bytes(count: number): Buffer
  /** True with this probability. */
  chance(part: number): boolean
}

/** Pseudo-random numbers from a seed: xorshift32. */
export function randomFrom(seed: number): Random {
  let state = seed | 0 || 1
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  return {
    below: (end: number) => next() % end,
    bytes(count: number): Buffer {
      const bytes = Buffer.allocUnsafe(count)
      for (let i = 0; i < count; i++) bytes[i] = next()
      return bytes
    },
    chance: (part: number) => next() / 2 ** 32 < part,
  }
}
/** A new seed, or the one to repeat; tests put it into their names or messages. */
export const seedOfRun = (): number => Number(process.env.WINDLASS_SEED ?? Math.floor(Math.random() * 2 ** 31))
