/** Calls that are made before the measurement, for one connection: sending them is slicing a buffer. */
import { createHash } from 'node:crypto'
import { FLAG, FRAME_HEAD_BYTES, FRAME_TYPE, putFrameHeader } from '../../../src/grpc/http2/wire-format.ts'
import { encodeWanted, framed, PING, SMALL, STREAM, type Wanted } from '../servers/echo.ts'
import { type Field, HpackWriter } from './hpack-writer.ts'

/**
 * The headers of the calls. `bazel`: each call has its own deadline and request metadata, as literals without Huffman
 * coding, like grpc-java. `bazel-huffman`: the same with Huffman coding, like Go and Rust clients (reclient, Buck2).
 * `repeated`: all calls are equal, so that from the second on a header block consists only of indexes.
 */
export type Style = 'repeated' | 'bazel' | 'bazel-huffman'

export interface Plan {
  readonly style: Style
  /** Calls Stream with this request; without it, Small. */
  readonly wanted?: Wanted
}

export interface Script {
  readonly count: number
  readonly bytes: Buffer
  /** Call i is from ends[i] to ends[i + 1]; it is on stream 2i + 1. */
  readonly ends: Uint32Array
  /** Bytes of DATA in each call, which count against the server's window. */
  readonly dataBytes: number
}

export function writeScript(plan: Plan, connection: number, count: number): Script {
  const writer = new HpackWriter(plan.style === 'bazel-huffman')
  const body = framed(plan.wanted === undefined ? PING : encodeWanted(plan.wanted))
  const ends = new Uint32Array(count + 1)
  let bytes = Buffer.allocUnsafeSlow(1 << 20)
  let at = 0
  for (let i = 0; i < count; i++) {
    const stream = 2 * i + 1
    const block = writer.write(fieldsOf(plan, connection, i))
    const end = at + 2 * FRAME_HEAD_BYTES + block.length + body.length
    if (end > bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2)
    at = putFrameHeader(bytes, at, block.length, (FRAME_TYPE.headers << 8) | FLAG.endHeaders, stream)
    at += block.copy(bytes, at)
    at = putFrameHeader(bytes, at, body.length, (FRAME_TYPE.data << 8) | FLAG.endStream, stream)
    at += body.copy(bytes, at)
    ends[i + 1] = at
  }
  return { count, bytes: bytes.subarray(0, at), ends, dataBytes: body.length }
}

/** In the order of grpc-java: pseudo-headers, its own headers, the caller's metadata, the deadline. */
function fieldsOf({ style, wanted: expected }: Plan, connection: number, call: number): Field[] {
  const fields: Field[] = [
    [':authority', '127.0.0.1'],
    [':path', expected === undefined ? SMALL : STREAM],
    [':method', 'POST'],
    [':scheme', 'http'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ['user-agent', 'grpc-java-netty/1.71.0'],
  ]
  if (style !== 'repeated') {
    fields.push(['build.bazel.remote.execution.v2.requestmetadata-bin', requestMetadata(connection, call)])
    fields.push(['grpc-accept-encoding', 'gzip'])
    fields.push(['grpc-timeout', `${59_999_999 - connection - 4 * call}u`])
  }
  return fields
}

const hex = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A RequestMetadata of 250 bytes, with another action each time, as base64 without padding. */
function requestMetadata(connection: number, call: number): string {
  const message = Buffer.concat([
    text(1, Buffer.concat([text(1, 'bazel'), text(2, '8.4.2')])),
    text(2, hex(`action ${connection} ${call}`)),
    text(3, '3f2c1a90-7b6d-4e58-9a21-0c4d8e7f6b15'),
    text(4, 'b1d7e6c4-52a8-4f03-8e9d-6a7b5c4d3e2f'),
    text(5, 'CppCompile'),
    text(6, `//pkg:t${String(call % 100_000).padStart(5, '0')}`),
    text(7, CONFIGURATION),
  ])
  return message.toString('base64').replace(/=+$/, '')
}

const CONFIGURATION = hex('k8-fastbuild')

/** A length-delimited protobuf field, shorter than 128 bytes. */
function text(field: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([(field << 3) | 2, bytes.length]), bytes])
}
