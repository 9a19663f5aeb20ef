/** The rows: the calls, their load, and the bars for Windlass. */
import { MiB } from './content.ts'
import type { ContestantName } from './contestant.ts'
import { MEDIUM_BYTES, type Plan, type Stock } from './plan.ts'

export interface Row {
  readonly name: string
  readonly plan: Plan
  /** The unit that is counted per CPU second, besides calls. */
  readonly unit: 'calls' | 'bytes'
  readonly connections: number
  /** The number of calls in progress on each connection. */
  readonly inFlight: number
  /** Enough calls for a first estimate of the speed. */
  readonly fewCalls: number
  /** The most calls in a window. Uploads stay until the end of the run, so rows that upload have small windows. */
  readonly mostCalls: number
  /**
   * Calls per second for the latency measurement, on one connection. Without it, the latencies are those of the window.
   */
  readonly perSecond: number | undefined
  /** How many times more work per CPU second Windlass must do than each of these. */
  readonly bars: Partial<Record<ContestantName, number>>
  /** The bar in digests per CPU second, independent of other contestants. */
  readonly digestsPerSecond?: number
}

const LOOKUP_BARS = { 'bazel-remote': 2, 'buildbox-casd': 5 }
const COPY_BARS = { 'bazel-remote': 1.5, 'buildbox-casd': 2 }
const LARGE_BARS = { 'bazel-remote': 1 }
const LOOKUPS = { unit: 'calls', connections: 4, bars: LOOKUP_BARS } as const
const BATCHES = { unit: 'calls', connections: 2, inFlight: 4, fewCalls: 20, perSecond: 20, bars: COPY_BARS } as const

export const makeRows = (stock: Stock): readonly Row[] => [
  { ...findMissing(1), inFlight: 16, fewCalls: 2000, mostCalls: 200_000, perSecond: 500 },
  { ...findMissing(100), inFlight: 8, fewCalls: 100, mostCalls: 20_000, perSecond: 100 },
  { ...findMissing(10_000), inFlight: 1, fewCalls: 4, mostCalls: 1000, perSecond: 4, digestsPerSecond: 1e6 },
  { ...BATCHES, name: 'BatchUpdate, 100 × 4 KiB', plan: { kind: 'batch-update' }, mostCalls: 300 },
  { ...BATCHES, name: 'BatchRead, 100 × 4 KiB', plan: { kind: 'batch-read' }, mostCalls: 4000 },
  getActionResult(),
  medium('read', 'ByteStream read, 1 MiB'),
  medium('write', 'ByteStream write, 1 MiB'),
  large('read', 'ByteStream read', stock),
  large('write', 'ByteStream write', stock),
  medium('read-zstd', 'ByteStream read, 1 MiB as zstd'),
  medium('write-zstd', 'ByteStream write, 1 MiB as zstd'),
  large('read-zstd', 'ByteStream read', stock),
  large('write-zstd', 'ByteStream write', stock),
]

const findMissing = (digests: number) => ({
  ...LOOKUPS,
  name: `FindMissing, ${digests.toLocaleString('en')} digest${digests === 1 ? '' : 's'}`,
  plan: { kind: 'find-missing', digests } as const,
})

const getActionResult = (): Row => ({
  ...LOOKUPS,
  name: 'GetActionResult, 5 outputs',
  plan: { kind: 'action-result' },
  inFlight: 16,
  fewCalls: 1000,
  mostCalls: 200_000,
  perSecond: 500,
})

type StreamKind = 'read' | 'write' | 'read-zstd' | 'write-zstd'

const medium = (kind: StreamKind, name: string): Row => ({
  name,
  plan: { kind, size: MEDIUM_BYTES },
  unit: 'bytes',
  connections: 2,
  inFlight: 2,
  fewCalls: 8,
  mostCalls: kind.startsWith('write') ? 150 : 3000,
  perSecond: 20,
  bars: COPY_BARS,
})

const large = (kind: StreamKind, name: string, { largeBytes }: Stock): Row => ({
  name: `${name}, ${largeBytes / MiB} MiB${kind.endsWith('zstd') ? ' as zstd' : ''}`,
  plan: { kind, size: largeBytes },
  unit: 'bytes',
  connections: 1,
  inFlight: 1,
  fewCalls: 1,
  mostCalls: kind.startsWith('write') ? 1 : 8,
  perSecond: undefined,
  bars: LARGE_BARS,
})
