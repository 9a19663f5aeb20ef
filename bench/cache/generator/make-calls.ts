/** Makes the calls of a plan, before the measurement. */
import { type Blob, makeBlob, randomNumbers } from '../content.ts'
import { BATCH_BLOBS, MEDIUM_BYTES, type Plan, SMALL_BYTES, type Stock } from '../plan.ts'
import type { Call } from './call.ts'
import { read, write } from './stream-calls.ts'
import { batchRead, batchUpdate, findMissing, getResult, smallBlob, updateResult } from './unary-calls.ts'

export interface Lot {
  readonly plan: Plan
  readonly stock: Stock
  readonly count: number
  /** The name of the uploaded set: another name means other blobs. Plans that only read ignore it. */
  readonly set: string
}

/** The name of the set of small blobs that are found and read. */
export const SMALL_SET = 'small'

const BATCH_READS = 400
const MOST_REQUESTS = 2000
const MOST_DIGESTS = 200_000

/** Makes `count` calls when each can be used only once, otherwise enough calls to repeat. */
export function makeCalls(lot: Lot): Call[] {
  const { plan, stock, set } = lot
  const make = (count: number, one: (index: number) => Call) => Array.from({ length: count }, (_, i) => one(i))
  switch (plan.kind) {
    case 'find-missing': {
      const count = Math.max(16, Math.min(MOST_REQUESTS, MOST_DIGESTS / plan.digests))
      return make(count, (i) => findMissing(plan.digests, stock, i))
    }
    case 'batch-read':
      return make(BATCH_READS, (i) => batchRead(stock, i))
    case 'action-result':
      return make(stock.actions, (i) => getResult(stock, i))
    case 'read':
    case 'read-zstd': {
      const order = shuffled(plan.size === MEDIUM_BYTES ? stock.medium : 1)
      return order.map((index) => read(plan, index))
    }
    case 'batch-update':
      return make(lot.count, (i) => batchUpdate(newBlobs(lot, i)))
    case 'update-action':
      return make(lot.count, (i) => updateResult(stock, i))
    case 'write':
    case 'write-zstd':
      return make(lot.count, (i) => write(plan.kind, makeBlob({ set, index: i }, plan.size)))
  }
}

function newBlobs({ set, stock }: Lot, call: number): Blob[] {
  const first = call * BATCH_BLOBS
  return Array.from({ length: BATCH_BLOBS }, (_, i) =>
    set === SMALL_SET ? smallBlob((first + i) % stock.small) : makeBlob({ set, index: first + i }, SMALL_BYTES),
  )
}

function shuffled(count: number): number[] {
  const random = randomNumbers(count)
  const order = Array.from({ length: count }, (_, i) => ({ i, key: random() }))
  return order.sort((a, b) => a.key - b.key).map(({ i }) => i)
}
