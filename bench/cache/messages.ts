/**
 * The few protobuf messages that the bench sends, encoded by hand, so that no contestant's codec is part of the load.
 */
export interface Digest {
  /** Lower-case hex. */
  readonly hash: string
  readonly size: number
}

const EMPTY = Buffer.alloc(0)

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push(0x80 | (rest % 128))
  bytes.push(rest)
  return Buffer.from(bytes)
}

/** A varint field; zero is the default and is omitted. */
const number = (field: number, value: number): Buffer =>
  value === 0 ? EMPTY : Buffer.concat([varint(field << 3), varint(value)])

/** The tag and length before a length-delimited field. */
export const headOf = (field: number, length: number): Buffer =>
  Buffer.concat([varint((field << 3) | 2), varint(length)])

const bytes = (field: number, value: Uint8Array | string): Buffer => {
  const content = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([headOf(field, content.length), content])
}

const digestMessage = ({ hash, size }: Digest): Buffer => Buffer.concat([bytes(1, hash), number(2, size)])

/** The FindMissing request and response, and the BatchRead request: each is a list of digests in field 2. */
export const digestList = (digests: readonly Digest[]): Buffer =>
  Buffer.concat(digests.map((digest) => bytes(2, digestMessage(digest))))

export interface Content {
  readonly digest: Digest
  readonly data: Uint8Array
}

export const batchUpdateRequest = (blobs: readonly Content[]): Buffer =>
  Buffer.concat(
    blobs.map(({ digest, data }) => bytes(2, Buffer.concat([bytes(1, digestMessage(digest)), bytes(2, data)]))),
  )

/** One entry per digest, without a status, which means OK. */
export const batchUpdateResponse = (digests: readonly Digest[]): Buffer =>
  Buffer.concat(digests.map((digest) => bytes(1, bytes(1, digestMessage(digest)))))

export const batchReadResponse = (blobs: readonly Content[]): Buffer =>
  Buffer.concat(
    blobs.map(({ digest, data }) => bytes(1, Buffer.concat([bytes(1, digestMessage(digest)), bytes(2, data)]))),
  )

export const readRequest = (resource: string): Buffer => bytes(1, resource)

export interface WriteHead {
  /** Only in the first message. */
  readonly resource: string | undefined
  readonly offset: number
  readonly isLast: boolean
  readonly dataBytes: number
}

/** A WriteRequest up to its data, which is the last field. */
export const writeHead = ({ resource, offset, isLast, dataBytes }: WriteHead): Buffer =>
  Buffer.concat([
    resource === undefined ? EMPTY : bytes(1, resource),
    number(2, offset),
    number(3, isLast ? 1 : 0),
    headOf(10, dataBytes),
  ])

export const writeResponse = (committed: number): Buffer => number(1, committed)

export interface OutputFile {
  readonly path: string
  readonly digest: Digest
}

export const actionResult = (files: readonly OutputFile[]): Buffer =>
  Buffer.concat([
    ...files.map(({ path, digest }) => bytes(2, Buffer.concat([bytes(1, path), bytes(2, digestMessage(digest))]))),
    bytes(9, bytes(1, 'bench')),
  ])

export const getActionResultRequest = (action: Digest): Buffer => bytes(2, digestMessage(action))

export const updateActionResultRequest = (action: Digest, result: Uint8Array): Buffer =>
  Buffer.concat([bytes(2, digestMessage(action)), bytes(3, result)])

/** The gRPC head of a message: an uncompressed flag and the length. */
export function grpcHead(length: number): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(length, 1)
  return head
}
