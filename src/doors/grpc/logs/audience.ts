import { FaultError } from '../../../base/fault.ts'
import type { Outgoing, ServerCall } from '../../../grpc/service.ts'
import { readResponse } from '../../../wire/hot/byte-stream.ts'

/** A reader of a log. The server reads the next bytes only after the reader has received the previous ones. */
export interface Audience {
  readonly call: ServerCall
  /** Returns false when the reader has received as much as it requested. */
  send(bytes: Uint8Array): Promise<boolean>
  /** Resolves when the sent buffers may be reused. */
  sent(): Promise<void>
  /**
   * Resolves when `wake` was called since the last time. Throws when the reader has disconnected or the server is
   * stopping.
   */
  more(): Promise<void>
  wake(): void
  leave(): void
}

export interface AudienceOptions {
  readonly out: Outgoing
  readonly call: ServerCall
  /** 0 for no limit. */
  readonly limit: number
  /** Aborted when the server is about to stop. */
  readonly ending: AbortSignal
}

/** Well below the 4 MiB that clients accept per message. */
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
      if (ending.aborted)
        throw new FaultError({ kind: 'unavailable', what: 'the server is stopping: resume the read later' })
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

/** The text that replaces lost bytes. Results with truncated output contain the same text. */
export const leftOut = (bytes: number): Uint8Array => Buffer.from(`\n[windlass: ${bytes} bytes left out]\n`)
