import { FaultError, invalid } from '../../../base/fault.ts'
import type { Outgoing, ServerStreamingMethod } from '../../../grpc/service.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { BlobReader } from '../../../storage/blob-store.ts'
import { readReadRequest, readResponse } from '../../../wire/hot/byte-stream.ts'
import { type BlobName, parseReadName } from '../../../wire/reapi/resource-name.ts'
import type { LogStreams } from '../logs/door.ts'
import { packing } from './packing.ts'
import { checkResourceNameHeader } from './resource-name-header.ts'

/** Below the 4 MiB that gRPC clients accept in one message. */
const MAX_PIECE_BYTES = 1024 * 1024
/** About the size of one piece that stores return. */
const USUAL_PIECE_BYTES = 640 * 1024

export const byteStreamRead = (
  instances: Instances,
  logs?: Pick<LogStreams, 'nameOf' | 'read'>,
): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const request = readReadRequest(bytes)
    const { resourceName, offset, limit } = request
    checkResourceNameHeader(call, resourceName)
    const log = logs?.nameOf(resourceName)
    if (log !== undefined) return logs?.read(log, request, { out, call })
    const name = parseReadName(resourceName, (instance) => instances(instance).unnamedFunction)
    checkRange(name, offset, limit)
    const wantsZstd = name.compressor === 'zstd' && offset === 0
    const range = { offset, ...(limit > 0 && { limit }), ...(wantsZstd && { acceptZstd: true, onlyZstd: true }) }
    // The next piece is read when the client has received the one before.
    const pieceBytes = Math.min(USUAL_PIECE_BYTES, name.digest.size - offset)
    await call.room(pieceBytes)
    const reader = await instances(name.instance).blobs.read(name.digest, range, call.signal)
    if (reader === undefined) throw new FaultError({ kind: 'absent', what: `no blob ${resourceName}` })
    for await (const piece of inForm(reader, name)) {
      await send(piece, out)
      await call.room(pieceBytes)
    }
  },
})

function checkRange({ digest, compressor }: BlobName, offset: number, limit: number): void {
  if (compressor !== 'identity' && limit !== 0) throw invalid('read_limit cannot be used with a compressed blob')
  if (offset > digest.size) throw invalid(`read_offset ${offset} is past the end of ${digest.size} bytes`, 'range')
}

const inForm = (reader: BlobReader, { compressor }: BlobName): AsyncIterable<Uint8Array> =>
  compressor === 'identity' || reader.form === compressor ? reader.pieces : packing(reader.pieces, compressor)

async function send(piece: Uint8Array, out: Outgoing): Promise<void> {
  for (let at = 0; at < piece.length; at += MAX_PIECE_BYTES) {
    const part = piece.length <= MAX_PIECE_BYTES ? piece : piece.subarray(at, at + MAX_PIECE_BYTES)
    if (!out.write(readResponse(part))) await out.drained()
  }
  // The store reads the next piece into the same buffer.
  await out.sent()
}
