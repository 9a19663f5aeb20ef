/** The rows: the calls, their load, and the bar. */
import type { Child } from '../child.ts'
import type { LoadQuestion, Pace, Paced, Saturated } from './bazel-load.ts'
import type { ContestantName } from './contestants.ts'
import type { Plan, Style } from './generator/script.ts'
import { h2load, h2loadCommand, type Repeat } from './h2load.ts'
import { encodeWanted, PING, PONG, SMALL, STREAM } from './servers/echo.ts'

export interface Row {
  readonly name: string
  readonly unit: 'call' | 'GB'
  /** How many times less CPU Windlass must take than this contestant. */
  readonly bars: Partial<Record<ContestantName, number>>
  readonly command: string
  /** The number of calls is a multiple of this. */
  readonly step: number
  /** Enough calls for a first estimate of the speed. */
  readonly fewCalls: number
  /** Bytes of DATA in the answer to one call: any status other than OK would change them. */
  readonly answerBytes: number
  readonly paced: string
  /** Work that must not be part of the measured time. */
  prepare(calls: number): Promise<void>
  saturate(port: number, calls: number): Promise<Saturated>
  pace(port: number): Promise<Paced>
}

export interface Generators {
  /** bazel-load.ts */
  readonly ours: Child
  /** The folder of h2load's messages. */
  readonly folder: string
  /** The duration of the latency measurement in each round. */
  readonly paceMs: number
}

const KiB = 1024
const FRAME_BYTES = 5
const UNARY_BARS = { 'grpc-js': 8, 'node:http2': 4 }
const STREAM_BARS = { 'grpc-js': 3 }
const CONNECTIONS = 4
const IN_FLIGHT = 32
const SMALL_CALLS_PER_SECOND = 2000
const READS_PER_SECOND = 100
const STREAMED_BYTES = 16_384 * KiB
const PACED_BYTES = 1024 * KiB

export const makeRows = (generators: Generators): readonly Row[] => [
  repeated(generators),
  bazel(generators, 'bazel', 'headers as Bazel sends them'),
  bazel(generators, 'bazel-huffman', 'the same, Huffman coded'),
  streaming(generators, 64 * KiB),
  streaming(generators, 256 * KiB),
]

function repeated(generators: Generators): Row {
  const { ours, folder } = generators
  const plan: Plan = { style: 'repeated' }
  const load = paceOf(generators, SMALL_CALLS_PER_SECOND)
  const repeat: Repeat = { path: SMALL, message: PING, connections: CONNECTIONS, inFlight: IN_FLIGHT }
  return {
    ...small(ours, plan, load),
    name: 'small unary, one header block repeated',
    command: h2loadCommand(repeat),
    prepare: () => prepare(ours, plan, { connections: 1, calls: load.calls }),
    saturate: (port, calls) => h2load(repeat, calls, { port, folder }),
  }
}

function bazel(generators: Generators, style: Style, words: string): Row {
  const { ours } = generators
  const plan: Plan = { style }
  const paced = paceOf(generators, SMALL_CALLS_PER_SECOND)
  return {
    ...small(ours, plan, paced),
    name: `small unary, ${words}`,
    command: `bench/wire/bazel-load.ts, style ${style}, N calls on ${CONNECTIONS} connections, ${IN_FLIGHT} under way on each`,
    prepare: (calls) =>
      prepare(ours, plan, { connections: CONNECTIONS, calls: Math.max(calls / CONNECTIONS, paced.calls) }),
    saturate: (port, calls) => {
      const load = { connections: CONNECTIONS, calls: calls / CONNECTIONS, inFlight: IN_FLIGHT }
      return ours.ask({ ask: 'saturate', port, plan, load } satisfies LoadQuestion)
    },
  }
}

function small(ours: Child, plan: Plan, load: Pace) {
  return {
    unit: 'call',
    bars: UNARY_BARS,
    step: 100 * CONNECTIONS,
    fewCalls: 1000 * CONNECTIONS,
    answerBytes: FRAME_BYTES + PONG.length,
    paced: `${load.perSecond} calls/s`,
    pace: (port: number): Promise<Paced> => ours.ask({ ask: 'pace', port, plan, load } satisfies LoadQuestion),
  } as const
}

function streaming(generators: Generators, size: number): Row {
  const { ours, folder } = generators
  const load = paceOf(generators, READS_PER_SECOND)
  const count = STREAMED_BYTES / size
  const message = encodeWanted({ size, count })
  const repeat: Repeat = { path: STREAM, message, connections: 2, inFlight: 2 }
  const plan: Plan = { style: 'repeated', wanted: { size, count: PACED_BYTES / size } }
  return {
    name: `streamed reads, ${size / KiB} KiB messages`,
    unit: 'GB',
    bars: STREAM_BARS,
    command: `${h2loadCommand(repeat)} (each call reads 16 MiB)`,
    step: 4,
    fewCalls: 4,
    answerBytes: count * (FRAME_BYTES + size),
    paced: `${load.perSecond} reads/s of 1 MiB`,
    prepare: () => prepare(ours, plan, { connections: 1, calls: load.calls }),
    saturate: (port, calls) => h2load(repeat, calls, { port, folder }),
    pace: (port) => ours.ask({ ask: 'pace', port, plan, load } satisfies LoadQuestion),
  }
}

const prepare = (ours: Child, plan: Plan, size: { connections: number; calls: number }): Promise<void> =>
  ours.ask({ ask: 'prepare', plan, ...size } satisfies LoadQuestion)

const paceOf = ({ paceMs }: Generators, perSecond: number): Pace => ({ calls: (paceMs * perSecond) / 1000, perSecond })
