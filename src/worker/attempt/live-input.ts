import type { InputEvent } from '../../model/live-input.ts'
import type { ProcessControl } from '../../runtimes/run/runtime.ts'

/** The input of one interactive attempt: the server adds events, the interactive stage reads them. */
export interface LiveInput {
  /** Ignores an event whose number was received before. */
  give(number: number, event: InputEvent | undefined): void
  /** Connects an interactive stage. At a terminal the end of input is a key. */
  attach(options: { readonly hasTerminal: boolean }): AttachedInput
}

export interface AttachedInput {
  readonly stdin: AsyncIterable<Uint8Array>
  readonly control: (control: ProcessControl) => void
}

export interface LiveInputListener {
  /** Called when an interactive stage has started. */
  attached(): void
  /** Called when the program has received all events up to this number. */
  taken(number: number): void
}

/** Ctrl-D. */
const END_KEY = Buffer.from([4])

interface Given {
  readonly number: number
  readonly event: InputEvent | undefined
  isTaken: boolean
}

/**
 * Bytes wait until the program reads. Signals and terminal sizes overtake them, because a user sends them when a
 * program does not read. The sender limits the queue: it stops sending while too many bytes are not acknowledged.
 */
export function liveInput(listener: LiveInputListener): LiveInput {
  const given: Given[] = []
  let last = 0
  let confirmed = 0
  let control: ProcessControl | undefined
  let wake = (): void => {}

  const took = (one: Given): void => {
    one.isTaken = true
    const before = confirmed
    while (given[0]?.isTaken === true) confirmed = given.shift()?.number ?? confirmed
    if (confirmed > before) listener.taken(confirmed)
  }
  const applied = (one: Given): boolean => {
    const { event } = one
    if (control === undefined || event?.kind === 'bytes' || event?.kind === 'end') return false
    if (event?.kind === 'signal') control.signal(event.signal)
    else if (event?.kind === 'resize') control.resize(event.size)
    took(one)
    return true
  }
  async function* read(hasTerminal: boolean): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = given.find(({ event, isTaken }) => !isTaken && (event?.kind === 'bytes' || event?.kind === 'end'))
      if (next === undefined) {
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      if (next.event?.kind === 'bytes') yield next.event.bytes
      else if (hasTerminal) yield END_KEY
      took(next) // the caller has written the previous input before it requests more
      if (next.event?.kind === 'end' && !hasTerminal) return
    }
  }
  return {
    give(number, event) {
      if (number <= last) {
        if (number <= confirmed) listener.taken(confirmed) // the acknowledgement was lost, so it is sent again
        return
      }
      last = number
      const one = { number, event, isTaken: false }
      given.push(one)
      if (!applied(one)) wake()
    },
    attach({ hasTerminal }) {
      listener.attached()
      return {
        stdin: read(hasTerminal),
        control(held) {
          control = held
          for (const one of [...given]) applied(one)
        },
      }
    },
  }
}
