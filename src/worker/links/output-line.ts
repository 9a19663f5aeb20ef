import type { Clock } from '../../base/clock.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import type { ClientCall } from '../../grpc/client/client-call.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import { outputPieceToProto, type StreamOutputPiece } from '../../wire/workers/report.ts'

const PATH = '/windlass.worker.v1.WorkerLink/ReportOutput'
/** Output within this time is sent as one piece, up to `PIECE_BYTES`. */
const GATHERED_MS = 20
const PIECE_BYTES = 64 * 1024
/** Bytes of each stream that are held while the server is behind or not yet connected. */
const HELD_BYTES = 4 * PIECE_BYTES
const FIRST_BYTES = 1024
/** The pause after a broken stream, and after a server without this method. */
const PAUSE_MS = 1000
const LONG_PAUSE_MS = 5 * 60_000

/**
 * Sends the output of running commands to clients that follow it. Commands never wait for it: output is dropped while
 * the server is slow or there is no stream. Each piece contains its offset, so that the server detects gaps.
 */
export interface OutputLine {
  /** Copies the bytes before it returns. */
  print(attemptId: string, stream: StreamOutputPiece['stream'], bytes: Uint8Array): void
  /** A client follows the attempt interactively: its output is sent at the end of each event loop turn. */
  prompt(attemptId: string): void
  /** The attempt has ended. Output that its result contains is not sent. */
  ended(attemptId: string, hasResult: boolean): void
  close(): void
}

export interface OutputLineOptions {
  readonly channel: Channel
  readonly clock: Clock
  readonly worker: string
}

/** The output of one stream of one attempt since its last piece. */
interface Gathered {
  readonly stream: StreamOutputPiece['stream']
  buffer: Buffer
  length: number
  /** All bytes so far, including the gathered ones. */
  printed: number
  /** `isPrompt`: a client follows it interactively. `isDue`: it is sent at the end of this turn. */
  isPrompt: boolean
  isDue: boolean
}

type Streams = Readonly<Record<StreamOutputPiece['stream'], Gathered>>

export const outputLine = ({ channel, clock, worker }: OutputLineOptions): OutputLine =>
  gatheredOutput({ clock, worker, open: (caughtUp) => wayTo(channel, clock, caughtUp) })

export interface GatheredOptions {
  readonly clock: Clock
  readonly worker: string
  /** Opens the connection to the server, which calls back when it accepts output again. */
  readonly open: (caughtUp: () => void) => OutputWay
}

/** Gathers output for any kind of connection. */
export function gatheredOutput({ clock, worker, open }: GatheredOptions): OutputLine {
  const attempts = new Map<string, Streams>()
  const way = open(() => sendAll())
  let isTimed = false
  let stopTimer = (): void => {}

  const send = (attemptId: string, gathered: Gathered): void => sendBy(way, { worker, attemptId }, gathered)
  const sendAll = (): void => {
    for (const [attemptId, streams] of attempts) for (const one of Object.values(streams)) send(attemptId, one)
  }
  const sendSoon = (): void => {
    if (isTimed) return
    isTimed = true
    stopTimer = clock.after(GATHERED_MS, () => {
      isTimed = false
      sendAll()
    })
  }
  /** Sends at the end of the event loop turn, so that many small writes of a program become few pieces. */
  const sendNow = (attemptId: string, gathered: Gathered): void => {
    if (gathered.isDue) return
    gathered.isDue = true
    setImmediate(() => {
      gathered.isDue = false
      send(attemptId, gathered)
    })
  }
  const streamsOf = (attemptId: string): Streams => {
    if (!attempts.has(attemptId)) attempts.set(attemptId, { stdout: nothing('stdout'), stderr: nothing('stderr') })
    return attempts.get(attemptId) as Streams
  }
  return {
    print(attemptId, stream, bytes) {
      const gathered = streamsOf(attemptId)[stream]
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const part = bytes.subarray(at, at + PIECE_BYTES)
        gather(gathered, part)
        if (gathered.length >= PIECE_BYTES) send(attemptId, gathered)
      }
      if (gathered.length === 0) return
      if (gathered.isPrompt) sendNow(attemptId, gathered)
      else sendSoon()
    },
    prompt(attemptId) {
      for (const one of Object.values(streamsOf(attemptId))) one.isPrompt = true
    },
    ended(attemptId, hasResult) {
      // The result carries the whole output. Without a result, or while a client follows it, the rest is sent now.
      for (const one of Object.values(attempts.get(attemptId) ?? {}))
        if (!hasResult || one.isPrompt) send(attemptId, one)
      attempts.delete(attemptId)
    },
    close() {
      stopTimer()
      sendAll()
      attempts.clear()
      way.close()
    },
  }
}

const nothing = (stream: StreamOutputPiece['stream']): Gathered => ({
  stream,
  buffer: Buffer.alloc(0),
  length: 0,
  printed: 0,
  isPrompt: false,
  isDue: false,
})

/** Sends as many bytes as the connection accepts. */
function sendBy(way: OutputWay, from: Pick<StreamOutputPiece, 'worker' | 'attemptId'>, gathered: Gathered): void {
  const { stream, buffer, printed } = gathered
  const start = printed - gathered.length
  let sent = 0
  while (sent < gathered.length && way.state() === 'open') {
    const bytes = buffer.subarray(sent, Math.min(gathered.length, sent + PIECE_BYTES))
    way.write({ ...from, stream, bytes, at: start + sent })
    sent += bytes.length
  }
  if (way.state() === 'none') sent = gathered.length
  buffer.copyWithin(0, sent, gathered.length)
  gathered.length -= sent
}

/** When the buffer is full because the server is slow, the older bytes are dropped. */
function gather(gathered: Gathered, part: Uint8Array): void {
  if (gathered.length + part.length > HELD_BYTES) gathered.length = 0
  const length = gathered.length + part.length
  if (length > gathered.buffer.length) {
    const room = Math.min(HELD_BYTES, Math.max(FIRST_BYTES, 2 * length))
    const larger = Buffer.allocUnsafeSlow(room)
    gathered.buffer.copy(larger, 0, 0, gathered.length)
    gathered.buffer = larger
  }
  gathered.buffer.set(part, gathered.length)
  gathered.length = length
  gathered.printed += part.length
}

export interface OutputWay {
  /** `behind`: accepts output again later. `none`: output is dropped. */
  state(): 'open' | 'behind' | 'none'
  /** Copies the bytes before it returns. */
  write(piece: StreamOutputPiece): void
  close(): void
}

/** One stream for all attempts, opened by the first output. */
function wayTo(channel: Channel, clock: Clock, caughtUp: () => void): OutputWay {
  let call: ClientCall | undefined
  let isBehind = false
  let closedUntil = 0
  const open = (): ClientCall => {
    const opened = channel.open(PATH)
    const over = (error?: unknown): void => {
      if (call !== opened) return
      call = undefined
      isBehind = false
      const isUnknown = error instanceof GrpcError && error.code === STATUS.unimplemented
      closedUntil = clock.monotonic() + (isUnknown ? LONG_PAUSE_MS : PAUSE_MS)
    }
    opened.trailers.then(() => over(), over)
    return opened
  }
  return {
    state: () => (isBehind ? 'behind' : call === undefined && clock.monotonic() < closedUntil ? 'none' : 'open'),
    write(piece) {
      call ??= open()
      const used = call
      if (used.write(outputPieceToProto(piece))) return
      isBehind = true
      used.drained().then(
        () => {
          if (call !== used) return
          isBehind = false
          caughtUp()
        },
        () => {}, // the stream has ended
      )
    },
    close() {
      closedUntil = Number.POSITIVE_INFINITY
      call?.finish()
      call = undefined
    },
  }
}
