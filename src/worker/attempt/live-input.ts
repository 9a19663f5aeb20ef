import type { InputEvent } from '../../model/live-input.ts'
import type { ProcessControl } from '../../runtimes/run/runtime.ts'

/** What is done to one attempt while it runs: on the one side by the server, on the other to the stage that is typed to. */
export interface LiveInput {
  /** What was had before is nothing new. */
  give(number: number, event: InputEvent | undefined): void
  /** A stage of it is there to be typed to: from now on, what it reads; at a terminal its end is a key. */
  attach(wish: { readonly hasTerminal: boolean }): AttachedInput
}

export interface AttachedInput {
  readonly stdin: AsyncIterable<Uint8Array>
  readonly reins: (reins: ProcessControl) => void
}

export interface LiveInputListener {
  /** Somebody is at it. */
  attached(): void
  /** All up to this number has reached the program. */
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
 * Bytes wait until the program reads; signals and sizes do not wait for them, for they are what one turns to when a program
 * does not read. How much waits is bounded by who sends: nothing new comes while too much is not taken.
 */
export function liveInput(listener: LiveInputListener): LiveInput {
  const given: Given[] = []
  let last = 0
  let confirmed = 0
  let reins: ProcessControl | undefined
  let wake = (): void => {}

  const took = (one: Given): void => {
    one.isTaken = true
    const before = confirmed
    while (given[0]?.isTaken === true) confirmed = given.shift()?.number ?? confirmed
    if (confirmed > before) listener.taken(confirmed)
  }
  const steer = (one: Given): boolean => {
    const { event } = one
    if (reins === undefined || event?.kind === 'bytes' || event?.kind === 'end') return false
    if (event?.kind === 'signal') reins.signal(event.signal)
    else if (event?.kind === 'resize') reins.resize(event.size)
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
      took(next) // a caller that asks for more has written the previous input
      if (next.event?.kind === 'end' && !hasTerminal) return
    }
  }
  return {
    give(number, event) {
      if (number <= last) {
        if (number <= confirmed) listener.taken(confirmed) // that was not heard
        return
      }
      last = number
      const one = { number, event, isTaken: false }
      given.push(one)
      if (!steer(one)) wake()
    },
    attach({ hasTerminal }) {
      listener.attached()
      return {
        stdin: read(hasTerminal),
        reins(held) {
          reins = held
          for (const one of [...given]) steer(one)
        },
      }
    },
  }
}
