import type { Clock } from '../../base/clock.ts'
import type { StreamOutputPiece } from '../../wire/workers/report.ts'
import type { OutputWay } from './output-line.ts'

/** The number of unsent bytes of all attempts above which the connection is `behind`. */
const MOST_WAITING_BYTES = 512 * 1024
/** The limit of one message. */
const MOST_SENT_BYTES = 256 * 1024
const PAUSE_MS = 1000

export interface OutputWayOptions {
  /** Sends pieces of one attempt; false when the server could not be reached. */
  readonly post: (attemptId: string, pieces: readonly StreamOutputPiece[]) => Promise<boolean>
  readonly clock: Pick<Clock, 'monotonic'>
  readonly caughtUp: () => void
}

/** Sends output, one request at a time. Each request contains everything that its attempt has printed by then. */
export function httpOutputWay({ post, clock, caughtUp }: OutputWayOptions): OutputWay {
  let waiting: StreamOutputPiece[] = []
  let bytes = 0
  let isSending = false
  let closedUntil = 0

  const next = (): StreamOutputPiece[] => {
    const [first] = waiting
    const batch: StreamOutputPiece[] = []
    let size = 0
    for (const piece of waiting) {
      if (piece.attemptId !== first?.attemptId || size > MOST_SENT_BYTES) break
      batch.push(piece)
      size += piece.bytes.length
    }
    waiting = waiting.slice(batch.length)
    bytes -= size
    return batch
  }
  const send = async (): Promise<void> => {
    isSending = true
    while (waiting.length > 0) {
      const wasBehind = bytes > MOST_WAITING_BYTES
      const batch = next()
      const isSent = await post(batch[0]?.attemptId ?? '', batch)
      if (!isSent) {
        closedUntil = clock.monotonic() + PAUSE_MS
        waiting = []
        bytes = 0
      }
      if (wasBehind) caughtUp()
    }
    isSending = false
  }
  return {
    state: () => (clock.monotonic() < closedUntil ? 'none' : bytes > MOST_WAITING_BYTES ? 'behind' : 'open'),
    write(piece) {
      waiting.push({ ...piece, bytes: Buffer.from(piece.bytes) })
      bytes += piece.bytes.length
      if (!isSending) void send()
    },
    close() {
      closedUntil = Number.POSITIVE_INFINITY
    },
  }
}
