/** Uploads and downloads a 4 GiB blob, and checks that the memory of the server does not grow with it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MiB } from '../content.ts'
import type { Loaded, LoadQuestion } from '../generator/load.ts'
import { setToRead } from '../generator/stream-calls.ts'
import type { Bench } from '../measure.ts'
import { runWindlass } from '../peers/windlass.ts'
import type { Plan, ReadPlan } from '../plan.ts'
import { usageOf } from '../process-usage.ts'

const SIZE = 4096 * MiB
const MOST_GROWTH_BYTES = 150e6
const LOOK_EVERY_MS = 20

export async function checkLarge({ generator, stock }: Bench, folder: string): Promise<number> {
  await using windlass = await runWindlass(folder)
  const { pid } = windlass.server
  const plan: ReadPlan = { kind: 'read', size: SIZE }
  const set = setToRead(plan)
  const move = async (move: Plan): Promise<string> => {
    const lot = { plan: move, stock, count: 1, set }
    const load = { connections: 1, inFlight: 1, verifyAll: true }
    await generator.ask<void>({ ask: 'prepare', lot } satisfies LoadQuestion)
    const { wallMs } = await generator.ask<Loaded>({
      ask: 'saturate',
      port: windlass.port,
      lot,
      load,
    } satisfies LoadQuestion)
    return `${(SIZE / wallMs / 1e3).toFixed(0)} MB/s`
  }
  const before = usageOf(pid).rssBytes
  let most = before
  const ended = new AbortController()
  const watching = (async () => {
    while (!ended.signal.aborted) {
      most = Math.max(most, usageOf(pid).rssBytes)
      await sleep(LOOK_EVERY_MS)
    }
  })()
  const up = await move({ kind: 'write', size: SIZE })
  const down = await move(plan)
  ended.abort()
  await watching
  const grown = most - before
  const isMet = grown < MOST_GROWTH_BYTES
  console.log(
    `4 GiB up at ${up} and down at ${down}: RSS grew from ${mega(before)} by ${mega(grown)}, at most ${mega(MOST_GROWTH_BYTES)}: ${isMet ? 'met' : 'missed'}`,
  )
  return isMet ? 0 : 1
}

const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
