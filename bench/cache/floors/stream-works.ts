/** ByteStream, reduced to the necessary work: read and send, or receive, hash and write. */
import { createHash, hash } from 'node:crypto'
import { readvSync, writeSync, writevSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import { grpcHead, headOf, writeResponse } from '../messages.ts'
import { type Answer, GRPC_HEAD_BYTES, gapped, type StartWork, type Work } from './bare-connection.ts'
import { borrow } from './buffer-pool.ts'
import type { DigestTable } from './digest-table.ts'
import { RequestWalker } from './request-walker.ts'
import type { Pack } from './unary-works.ts'

/** Bytes of a stream that are read and sent as one message. */
const PIECE_BYTES = 256 * 1024

/** Reads directly into the frames that are sent. */
function sendBlob(fd: number, { offset, size }: { offset: number; size: number }, answer: Answer): void {
  let sent = 0
  const send = (): void => {
    while (sent < size && answer.room >= PIECE_BYTES + 16) {
      const bytes = Math.min(PIECE_BYTES, size - sent)
      const field = headOf(10, bytes)
      const head = Buffer.concat([grpcHead(field.length + bytes), field])
      const frames = gapped(head.length + bytes)
      const [first, ...rest] = frames.views as [Buffer, ...Buffer[]]
      head.copy(first)
      readvSync(fd, [first.subarray(head.length), ...rest], offset + sent)
      answer.frames(frames)
      sent += bytes
    }
    if (sent < size) return
    answer.onRoom = undefined
    answer.finish()
  }
  answer.onRoom = send
  answer.head()
  send()
}

/** The resource name ends with the hash and the size. */
const reading =
  (pack: Pack, table: DigestTable): StartWork =>
  (answer) => {
    const parts: Buffer[] = []
    return {
      data: (bytes) => void parts.push(bytes),
      end() {
        const request = Buffer.concat(parts)
        const slot = table.find(request, request.lastIndexOf('/') - 64)
        sendBlob(pack.fd, { offset: table.offset(slot), size: table.size(slot) }, answer)
      },
    }
  }

/** Returns the position of the hash in the name of an upload, and the size after it. */
function digestIn(resource: Buffer): { hexAt: number; size: number } {
  const slash = resource.lastIndexOf('/')
  return { hexAt: slash - 64, size: Number(resource.toString('latin1', slash + 1)) }
}

function answerCommitted(answer: Answer, bytes: number): void {
  const message = writeResponse(bytes)
  const body = borrow(GRPC_HEAD_BYTES + message.length)
  answer.unary(body, GRPC_HEAD_BYTES + message.copy(body, GRPC_HEAD_BYTES))
}

function writing(pack: Pack, answer: Answer): Work {
  const sum = createHash('sha256')
  const walker = new RequestWalker()
  let start = -1
  let written = 0
  return {
    data: (bytes) => walker.read(bytes),
    /** Writes the bytes of one socket read at once. */
    turn() {
      const { resource, slices } = walker
      if (slices.length === 0) return
      if (start < 0) {
        start = pack.end
        pack.end += digestIn(resource).size
      }
      for (const slice of slices) sum.update(slice)
      written += writevSync(pack.fd, slices, start + written)
      slices.length = 0
    },
    end() {
      const { resource } = walker
      const { hexAt, size } = digestIn(resource)
      if (sum.digest('hex') !== resource.toString('latin1', hexAt, hexAt + 64)) throw new Error('not what it says')
      pack.blobs.put({ bytes: resource, at: hexAt }, start, size)
      answerCommitted(answer, written)
    },
  }
}

/** Stores the bytes as received, after their decompressed form was hashed. */
function writingZstd(pack: Pack, answer: Answer): Work {
  const walker = new RequestWalker()
  const parts: Buffer[] = []
  return {
    data: (bytes) => walker.read(bytes),
    turn: () => void parts.push(...walker.slices.splice(0)),
    end() {
      const { resource } = walker
      const { hexAt, size } = digestIn(resource)
      const stored = Buffer.concat(parts)
      const right = resource.toString('latin1', hexAt, hexAt + 64)
      if (hash('sha256', zstdDecompressSync(stored, { chunkSize: size + 1 })) !== right)
        throw new Error('not what it says')
      pack.zstd.put({ bytes: resource, at: hexAt }, pack.end, stored.length)
      for (let done = 0; done < stored.length; ) {
        done += writeSync(pack.fd, stored, done, stored.length - done, pack.end + done)
      }
      pack.end += stored.length
      answerCommitted(answer, stored.length)
    },
  }
}

export const streamWorks = (pack: Pack) => ({
  read: reading(pack, pack.blobs),
  'read-zstd': reading(pack, pack.zstd),
  write: (answer: Answer) => writing(pack, answer),
  'write-zstd': (answer: Answer) => writingZstd(pack, answer),
})
