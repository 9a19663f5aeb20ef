import type { Random } from '../../testing/random-source.ts'
import type { Journal } from './journal.ts'

/** Delays each reply of `record` by up to `mostTurns` loop turns, so that replies may arrive out of order. */
export const answeringLate = (inner: Journal, random: Random, mostTurns = 8): Journal => {
  const later = async (): Promise<void> => {
    for (let turns = random.below(mostTurns + 1); turns > 0; turns--) {
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  return {
    ...inner,
    record: async (facts, durability) => {
      try {
        return await inner.record(facts, durability)
      } finally {
        await later()
      }
    },
  }
}
