/**
 * The protocol between a worker and its spawner over one socket: frames with a length, a kind, the number of a launch,
 * and a payload. No file descriptors are passed, so that either end can be another program.
 */
export const SPAWNER_FRAME = {
  /** To the spawner. */
  open: 1,
  start: 2,
  input: 3,
  endInput: 4,
  stop: 5,
  expect: 6,
  signal: 7,
  resize: 8,
  release: 9,
  /** From the spawner. */
  hello: 16,
  started: 17,
  stdout: 18,
  stderr: 19,
  stdoutDropped: 20,
  stderrDropped: 21,
  wrote: 22,
  ended: 23,
} as const

export type FrameKind = (typeof SPAWNER_FRAME)[keyof typeof SPAWNER_FRAME]

const HEAD_BYTES = 9

export interface FrameSocket {
  write(bytes: Uint8Array): unknown
  cork(): void
  uncork(): void
}

const NOTHING = new Uint8Array(0)
/** Up to this length one write of a copy costs less than two writes. */
const COPIED_BYTES = 4096

/** The head of a frame, in a buffer with space for `room` bytes of the payload. */
function frameOf(kind: FrameKind, launch: number, { length, room }: { length: number; room: number }): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + room)
  frame.writeUInt32LE(length, 0)
  frame[4] = kind
  frame.writeUInt32LE(launch, 5)
  return frame
}

/** The payload must not change until it has been sent. */
export class FrameWriter {
  readonly #socket: FrameSocket

  constructor(socket: FrameSocket) {
    this.#socket = socket
  }

  send(kind: FrameKind, launch: number, payload: Uint8Array = NOTHING): void {
    if (payload.length <= COPIED_BYTES) {
      const frame = frameOf(kind, launch, { length: payload.length, room: payload.length })
      frame.set(payload, HEAD_BYTES)
      this.#socket.write(frame)
      return
    }
    this.#socket.cork()
    this.#socket.write(frameOf(kind, launch, { length: payload.length, room: 0 }))
    this.#socket.write(payload)
    this.#socket.uncork()
  }

  json(kind: FrameKind, launch: number, value: unknown): void {
    const text = JSON.stringify(value)
    const length = Buffer.byteLength(text)
    const frame = frameOf(kind, launch, { length, room: length })
    frame.write(text, HEAD_BYTES)
    this.#socket.write(frame)
  }

  /** The number of dropped bytes, and the last of them. */
  dropped(kind: FrameKind, launch: number, what: { readonly count: number; readonly tail: Uint8Array }): void {
    const payload = Buffer.allocUnsafe(8 + what.tail.length)
    payload.writeDoubleLE(what.count, 0)
    payload.set(what.tail, 8)
    this.send(kind, launch, payload)
  }
}

export type FrameTaker = (kind: FrameKind, launch: number, payload: Buffer) => void

/** Parses frames from chunks of any size. The payload is valid during the call only. */
export class SpawnerFrameReader {
  readonly #take: FrameTaker
  #pieces: Buffer[] = []
  #held = 0
  /** How many bytes must have arrived before the next attempt to parse. */
  #wanted = HEAD_BYTES

  constructor(take: FrameTaker) {
    this.#take = take
  }

  push(chunk: Buffer): void {
    this.#pieces.push(chunk)
    this.#held += chunk.length
    if (this.#held < this.#wanted) return
    const all = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces)
    const rest = all.subarray(this.#cut(all))
    this.#pieces = rest.length === 0 ? [] : [rest]
    this.#held = rest.length
  }

  #cut(all: Buffer): number {
    let at = 0
    for (;;) {
      this.#wanted = HEAD_BYTES
      if (all.length - at < HEAD_BYTES) return at
      const length = all.readUInt32LE(at)
      this.#wanted = HEAD_BYTES + length
      if (all.length - at < this.#wanted) return at
      const payload = all.subarray(at + HEAD_BYTES, at + this.#wanted)
      const [kind, launch] = [all[at + 4] as FrameKind, all.readUInt32LE(at + 5)]
      at += this.#wanted
      this.#take(kind, launch, payload)
    }
  }
}

export const jsonIn = (payload: Buffer): unknown => JSON.parse(payload.toString('utf8'))

export const droppedIn = (payload: Buffer): { readonly count: number; readonly tail: Uint8Array } => ({
  count: payload.readDoubleLE(0),
  tail: payload.subarray(8),
})
