/** Compares caches, with the load generator of `npm run bench cache`. */
import { loadavg } from 'node:os'
import { join } from 'node:path'
import type { Contestant, Found } from '../cache/contestant.ts'
import type { LoadQuestion } from '../cache/generator/load.ts'
import { type Lot, SMALL_SET } from '../cache/generator/make-calls.ts'
import { setToRead } from '../cache/generator/stream-calls.ts'
import { type Bench, saturated } from '../cache/measure.ts'
import { findBazelRemote } from '../cache/peers/bazel-remote.ts'
import { findBbStorage } from '../cache/peers/bb-storage.ts'
import { findCasd } from '../cache/peers/casd.ts'
import { startWindlass } from '../cache/peers/windlass.ts'
import { BATCH_BLOBS, FULL, isZstd, type Stock } from '../cache/plan.ts'
import { startChild } from '../child.ts'
import { abba } from './order.ts'
import type { CacheRow } from './rows.ts'
import type { RowResult, Sample } from './sample.ts'

export interface RowOptions {
  readonly folder: string
  readonly rounds: number
  /** The share of the row's units in a window. */
  readonly scale: number
  note(words: string): void
}

type Entrant = Omit<Contestant, 'name'> & { readonly name: string }

const STOCK: Stock = { ...FULL, medium: 64 }

export async function measureCacheRow(row: CacheRow, options: RowOptions): Promise<RowResult> {
  await using everything = new AsyncDisposableStack()
  const generator = everything.use(startChild(new URL('../cache/generator/load.ts', import.meta.url)))
  const bench: Bench = { generator, stock: STOCK, paceMs: 0 }
  const absences: string[] = []
  const entrants: Entrant[] = []
  for (const entrant of await gatherCaches(row, { ...options, everything, absences })) {
    try {
      await fillCache(bench, row, entrant)
      for (const open of row.open)
        await measureWindow(bench, { row, entrant, open, set: 'warm', scale: 0.25 * options.scale })
      entrants.push(entrant)
    } catch (error) {
      if (entrant.name === 'windlass') throw error
      absences.push(`${entrant.name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  const samples: Sample[] = []
  for (const open of row.open) {
    for (const [turn, entrant] of abba(entrants, options.rounds).entries()) {
      samples.push(await measureWindow(bench, { row, entrant, open, set: `${turn}`, scale: options.scale }))
      await generator.ask<void>({ ask: 'forget' } satisfies LoadQuestion)
    }
    options.note(`${row.name}, ${open} at a time: done`)
  }
  return { samples, absences }
}

interface Gathering extends RowOptions {
  readonly everything: AsyncDisposableStack
  readonly absences: string[]
}

async function gatherCaches(row: CacheRow, { folder, everything, absences }: Gathering): Promise<Entrant[]> {
  const entrants: Entrant[] = [everything.use(await startWindlass(join(folder, 'windlass')))]
  const finders: Record<string, (own: string) => Promise<Found>> = {
    'bazel-remote': findBazelRemote,
    bb_storage: findBbStorage,
    'buildbox-casd': (own) => findCasd(own, false),
  }
  for (const [name, find] of Object.entries(finders)) {
    const found = await find(join(folder, name))
    if ('absent' in found) absences.push(`${name}: ${found.absent}`)
    else entrants.push(...modesOf(row, everything.use(found.contestant)))
  }
  return entrants
}

/**
 * bazel-remote stores all blobs in one form, independent of the upload; both of its servers take part in rows with
 * zstd.
 */
function modesOf(row: CacheRow, contestant: Contestant): Entrant[] {
  if (contestant.name !== 'bazel-remote' || !isZstd(row.plan.kind)) return [contestant]
  return (['read', 'read-zstd'] as const).map((kind) => ({
    ...contestant,
    name: `bazel-remote storing ${kind === 'read' ? 'uncompressed' : 'zstd'}`,
    port: () => contestant.port(kind),
    usage: () => contestant.usage(kind),
  }))
}

async function fillCache({ generator, stock }: Bench, { plan, stored }: CacheRow, entrant: Entrant): Promise<void> {
  if (stored === undefined) return
  const small: Lot = {
    plan: { kind: 'batch-update' },
    count: Math.ceil(stock.small / BATCH_BLOBS),
    set: SMALL_SET,
    stock,
  }
  const lot: Lot =
    stored !== 'batch-update' && (plan.kind === 'read' || plan.kind === 'read-zstd')
      ? { plan: { kind: stored, size: plan.size }, count: stock.medium, set: setToRead(plan), stock }
      : small
  const load = { connections: 1, inFlight: 2, verifyAll: true }
  await generator.ask({ ask: 'saturate', port: entrant.port(plan.kind), lot, load } satisfies LoadQuestion)
}

interface CacheWindow {
  readonly row: CacheRow
  readonly entrant: Entrant
  readonly open: number
  readonly set: string
  readonly scale: number
}

const MOST_CONNECTIONS = 4

async function measureWindow(bench: Bench, { row, entrant, open, set, scale }: CacheWindow): Promise<Sample> {
  const connections = Math.min(open, MOST_CONNECTIONS)
  const calls = Math.max(1, Math.round(row.count * scale))
  const loaded = await saturated(
    bench,
    {
      row: { name: row.name, plan: row.plan, connections, inFlight: open / connections },
      contestant: entrant,
      calls,
      set: `${open} ${set}`,
    },
    set === 'warm',
  )
  const { latency, serverCpuUs: cpuUs } = loaded
  return { contestant: entrant.name, open, units: calls, cpuUs, ...latency, load: loadavg()[0] ?? Number.NaN }
}
