import type { FinalState } from '../../model/task-state.ts'
import type { Accepted, Fact, Finished, RecordedFencing, Requeued } from './fact.ts'
import { KINDS } from './fact-packing.ts'

/** Returns the calls in a pack. Their byte fields are views into its memory. */
export function unpackCalls(memory: ArrayBuffer, size: number): Fact[][] {
  const reader = new PackReader(memory, size)
  const calls: Fact[][] = []
  while (!reader.isAtEnd) {
    const facts = new Array<Fact>(reader.number())
    for (let i = 0; i < facts.length; i++) facts[i] = unpackFact(reader)
    calls.push(facts)
  }
  return calls
}

function unpackFact(from: PackReader): Fact {
  const kind = KINDS[from.byte()]
  if (kind === 'offered') return { kind, names: from.texts() }
  const task = from.text()
  switch (kind) {
    case 'accepted':
      return unpackAccepted(task, from)
    case 'joined':
      return {
        kind,
        task,
        operation: from.text(),
        note: from.maybeBytes(),
        labels: from.maybeTexts(),
        at: from.number(),
      }
    case 'left':
      return { kind, task, operation: from.text(), at: from.number() }
    case 'raised':
      return { kind, task, priority: from.number() }
    case 'leased':
      return { kind, task, worker: from.text(), fencing: from.fencing(), attempt: from.number(), at: from.number() }
    case 'started':
      return { kind, task, fencing: from.fencing(), at: from.number() }
    case 'requeued':
      return unpackRequeued(task, from)
    case 'cancel-asked':
      return { kind, task, reason: from.text(), at: from.number() }
    case 'finished':
      return unpackFinished(task, from)
    default:
      throw new Error('a pack of facts holds something else')
  }
}

// The order of the fields here is the order in the pack.
const unpackAccepted = (task: string, from: PackReader): Accepted => ({
  kind: 'accepted',
  task,
  operation: from.text(),
  note: from.maybeBytes(),
  labels: from.maybeTexts(),
  instance: from.text(),
  invocation: from.text(),
  priority: from.number(),
  origin: from.text(),
  spec: from.maybeBytes() as Uint8Array,
  actionKey: from.flag() ? from.text() : undefined,
  durability: from.flag() ? 'power' : 'process',
  at: from.number(),
})

const unpackRequeued = (task: string, from: PackReader): Requeued => ({
  kind: 'requeued',
  task,
  state: from.flag() ? 'retrying' : 'queued',
  attempt: from.number(),
  lostWorkers: from.texts(),
  faults: from.number(),
  due: from.flag() ? from.number() : undefined,
  reason: from.text(),
  at: from.number(),
})

const unpackFinished = (task: string, from: PackReader): Finished => ({
  kind: 'finished',
  task,
  state: from.text() as FinalState,
  fencing: from.flag() ? from.fencing() : undefined,
  result: from.maybeBytes(),
  labels: from.maybeTexts(),
  reason: from.text(),
  at: from.number(),
})

class PackReader {
  readonly #bytes: Buffer
  readonly #view: DataView
  #at = 0

  constructor(memory: ArrayBuffer, size: number) {
    this.#bytes = Buffer.from(memory, 0, size)
    this.#view = new DataView(memory, 0, size)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    return this.#view.getUint8(this.#at++)
  }

  flag(): boolean {
    return this.byte() === 1
  }

  number(): number {
    const value = this.#view.getFloat64(this.#at, true)
    this.#at += 8
    return value
  }

  fencing(): RecordedFencing {
    return { epoch: this.number(), counter: this.number() }
  }

  text(): string {
    const start = this.#sized()
    return this.#bytes.toString('utf8', start, this.#at)
  }

  texts(): string[] {
    return Array.from({ length: this.number() }, () => this.text())
  }

  maybeTexts(): string[] | undefined {
    return this.flag() ? this.texts() : undefined
  }

  maybeBytes(): Uint8Array | undefined {
    if (!this.flag()) return undefined
    const start = this.#sized()
    return this.#bytes.subarray(start, this.#at)
  }

  /** Skips a field that is preceded by its length, and returns its start. */
  #sized(): number {
    const start = this.#at + 4
    this.#at = start + this.#view.getUint32(this.#at, true)
    return start
  }
}
