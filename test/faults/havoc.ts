/** Kills servers and workers at random, and restarts them a moment later, some while others are still down. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../src/testing/random-source.ts'
import type { Fleet } from './fleet.ts'
import type { Mortal } from './mortal.ts'

const SERVER_CHANCE = 0.25
const LONGEST_PAUSE_MS = 1500
const LONGEST_DOWN_MS = 400
/** The share of kills that may hit a process that is still starting. */
const INFANT_CHANCE = 0.1

export interface Havoc {
  readonly kills: number
  readonly random: Random
  /** Called after each kill. */
  killed(victim: Mortal, count: number): void
}

/** Resolves when everything is running again. */
export async function wreakHavoc({ server, workers }: Fleet, { kills, random, killed }: Havoc): Promise<void> {
  const starting = new Map<Mortal, Promise<unknown>>()
  const restart = async (victim: Mortal, downMs: number): Promise<void> => {
    await sleep(downMs)
    await victim.start()
  }
  for (let count = 1; count <= kills; ) {
    await sleep(random.below(LONGEST_PAUSE_MS))
    const victim = random.chance(SERVER_CHANCE) ? server : workers[random.below(workers.length)]
    const mayBeInfant = random.chance(INFANT_CHANCE)
    const downMs = random.below(LONGEST_DOWN_MS)
    if (victim === undefined || (starting.has(victim) && !mayBeInfant)) continue
    await victim.kill()
    await starting.get(victim)
    const back = restart(victim, downMs).finally(() => starting.delete(victim))
    starting.set(victim, back)
    killed(victim, count++)
  }
  await Promise.all(starting.values())
}
