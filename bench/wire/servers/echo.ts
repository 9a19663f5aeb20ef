/** The service that every contestant serves, so that only the gRPC implementation differs. */
import { answerWith } from '../../child.ts'

export const SERVICE = 'bench.Echo'
export const SMALL = `/${SERVICE}/Small`
export const STREAM = `/${SERVICE}/Stream`

/** The request and the response of a small call: as long as a short digest list, or an empty result. */
export const PING = Buffer.from('twenty bytes to send')
export const PONG = Buffer.from('twenty bytes to hear')

/** The request of a stream: the number and size of the messages, as two 32-bit numbers. */
export interface Wanted {
  readonly size: number
  readonly count: number
}

export function encodeWanted({ size, count }: Wanted): Buffer {
  const request = Buffer.alloc(8)
  request.writeUInt32BE(size, 0)
  request.writeUInt32BE(count, 4)
  return request
}

export function decodeWanted(request: Uint8Array): Wanted {
  const view = new DataView(request.buffer, request.byteOffset, request.byteLength)
  return { size: view.getUint32(0), count: view.getUint32(4) }
}

/** The gRPC frame of a message: an uncompressed flag, the length, the bytes. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  return frame
}

/** One block per size, shared by all streams: making bytes is not measured. */
export function blocks(make: (size: number) => Buffer): (size: number) => Buffer {
  const made = new Map<number, Buffer>()
  return (size) => {
    const block = made.get(size) ?? make(size)
    made.set(size, block)
    return block
  }
}

export const patterned = (size: number): Buffer => Buffer.alloc(size, 'windlass')

export interface Usage {
  /** User and system time of all threads of the process. */
  readonly cpuUs: number
  readonly rssBytes: number
}

export type ServerQuestion = { readonly ask: 'port' } | { readonly ask: 'usage' }

/** Reports this contestant's port to the parent and, on request, its usage so far. */
export function reportTo(port: Promise<number>): void {
  answerWith(({ ask }: ServerQuestion) => (ask === 'port' ? port : usage()))
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() }
}
