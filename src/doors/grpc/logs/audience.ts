import { FaultError } from '../../../base/fault.ts'
import type { Outgoing, ServerCall } from '../../../grpc/service.ts'
import { readResponse } from '../../../wire/hot/byte-stream.ts'

/** A reader of a log. The server fetches nothing for it before it has taken the previous bytes. */
export interface Audience {
  readonly call: ServerCall
  /** False when he has had as much as he asked for. */
  send(bytes: Uint8Array): Promise<boolean>
  /** Resolves when what was sent may be changed. */
  sent(): Promise<void>
  /** Resolves when `wake` was called since the last time. Throws when he left, or the server is about to stop. */
  more(): Promise<void>
  wake(): void
  leave(): void
}

export interface AudienceOptions {
  readonly out: Outgoing
  readonly call: ServerCall
  /** 0 for all there is. */
  readonly limit: number
  /** Aborted when the server is about to stop. */
  readonly ending: AbortSignal
}

/** Well below what clients take in one message. */
const MOST_PIECE_BYTES = 512 * 1024

export function audience({ out, call, limit, ending }: AudienceOptions): Audience {
  let left = limit > 0 ? limit : Number.POSITIVE_INFINITY
  let isRung = false
  let resolve = (): void => {}
  const wake = (): void => {
    isRung = true
    resolve()
  }
  for (const signal of [call.signal, ending]) signal.addEventListener('abort', wake, { once: true })
  return {
    call,
    wake,
    async send(bytes) {
      for (let at = 0; at < bytes.length && left > 0; ) {
        const part = bytes.subarray(at, at + Math.min(left, MOST_PIECE_BYTES))
        at += part.length
        left -= part.length
        if (!out.write(readResponse(part))) await out.drained()
      }
      return left > 0
    },
    sent: () => out.sent(),
    async more() {
      if (call.cancelled) throw new FaultError({ kind: 'cancelled', what: 'the reader left' })
      if (ending.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping: read on later' })
      if (!isRung) {
        const rung = Promise.withResolvers<void>()
        resolve = rung.resolve
        await rung.promise
      }
      isRung = false
    },
    leave() {
      for (const signal of [call.signal, ending]) signal.removeEventListener('abort', wake)
    },
  }
}

/** Stands in the place of lost bytes. Results with truncated output contain the same text. */
export const leftOut = (bytes: number): Uint8Array => Buffer.from(`\n[windlass: ${bytes} bytes left out]\n`)
