/** Stores a million blobs, restarts the server, and checks that all of them are found. */
import type { Loaded, LoadQuestion } from '../generator/load.ts'
import { SMALL_SET } from '../generator/make-calls.ts'
import type { Bench } from '../measure.ts'
import { runWindlass } from '../peers/windlass.ts'
import { BATCH_BLOBS, type Plan } from '../plan.ts'

const BLOBS = 1_000_000
const LOT_BLOBS = 20_000
const MOST_MS = 3000

export async function checkReopen({ generator, stock }: Bench, folder: string): Promise<number> {
  const ask = (port: number, plan: Plan, { count, set }: { count: number; set: string }): Promise<Loaded> => {
    const load = { connections: 1, inFlight: 4, verifyAll: true }
    return generator.ask<Loaded>({
      ask: 'saturate',
      port,
      lot: { plan, stock, count, set },
      load,
    } satisfies LoadQuestion)
  }
  {
    await using first = await runWindlass(folder)
    // Half of the digests of the later FindMissing calls are among these.
    await ask(first.port, { kind: 'batch-update' }, { count: stock.small / BATCH_BLOBS, set: SMALL_SET })
    for (let stored = stock.small; stored < BLOBS; stored += LOT_BLOBS) {
      await ask(first.port, { kind: 'batch-update' }, { count: LOT_BLOBS / BATCH_BLOBS, set: `reopen ${stored}` })
      await generator.ask<void>({ ask: 'forget' } satisfies LoadQuestion)
      if (stored % 200_000 === 0) console.error(`${stored} blobs stored`)
    }
    await first.server.stop()
  }
  const startedAt = performance.now()
  await using second = await runWindlass(folder)
  const tookMs = performance.now() - startedAt
  await ask(second.port, { kind: 'find-missing', digests: 10_000 }, { count: 16, set: '' })
  const isMet = tookMs < MOST_MS
  console.log(
    `${BLOBS.toLocaleString('en')} blobs: ready ${tookMs.toFixed(0)} ms after the start, at most ${MOST_MS}: ${isMet ? 'met' : 'missed'}`,
  )
  return isMet ? 0 : 1
}
