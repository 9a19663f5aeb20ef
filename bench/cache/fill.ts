/** Uploads the stock of a server. */
import type { Contestant } from './contestant.ts'
import type { Loaded, LoadQuestion } from './generator/load.ts'
import { type Lot, SMALL_SET } from './generator/make-calls.ts'
import { setToRead } from './generator/stream-calls.ts'
import type { Bench } from './measure.ts'
import { BATCH_BLOBS, MEDIUM_BYTES, type PlanKind, type ReadPlan, type Stock } from './plan.ts'

type Upload = Omit<Lot, 'stock'>

/** Returns the uploads that calls of this kind need. */
function uploadsFor(kind: PlanKind, stock: Stock): Upload[] {
  if (kind === 'find-missing' || kind === 'batch-read') {
    return [{ plan: { kind: 'batch-update' }, count: Math.ceil(stock.small / BATCH_BLOBS), set: SMALL_SET }]
  }
  if (kind === 'action-result') {
    return [
      ...uploadsFor('find-missing', stock),
      { plan: { kind: 'update-action' }, count: stock.actions, set: 'stock' },
    ]
  }
  if (kind !== 'read' && kind !== 'read-zstd') return []
  const written = kind === 'read' ? 'write' : 'write-zstd'
  const upload = (size: number, count: number): Upload => {
    const plan: ReadPlan = { kind, size }
    return { plan: { kind: written, size }, count, set: setToRead(plan) }
  }
  return [upload(MEDIUM_BYTES, stock.medium), upload(stock.largeBytes, 1)]
}

/** Uploads the stock, and returns the kinds whose uploads the server refused, with its error. */
export async function fill(
  bench: Bench,
  contestant: Contestant,
  kinds: ReadonlySet<PlanKind>,
): Promise<Map<PlanKind, string>> {
  const refused = new Map<PlanKind, string>()
  const done = new Set<string>()
  for (const kind of kinds) {
    try {
      for (const upload of uploadsFor(kind, bench.stock)) {
        const key = JSON.stringify(upload)
        if (done.has(key)) continue
        const port = contestant.port(upload.plan.kind)
        const load = { connections: 1, inFlight: 2, verifyAll: true }
        const lot = { ...upload, stock: bench.stock }
        await bench.generator.ask<Loaded>({ ask: 'saturate', port, lot, load } satisfies LoadQuestion)
        done.add(key)
      }
    } catch (error) {
      refused.set(kind, error instanceof Error ? error.message : String(error))
    }
  }
  return refused
}
