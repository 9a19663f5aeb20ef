import { FaultError } from '../../base/fault.ts'
import type { StageStream } from '../../model/command-task.ts'
import type { BlobStore } from '../../storage/blob-store.ts'

/** Encodings of bytes in JSON. As text, invalid UTF-8 is replaced; base64 keeps every byte. */
export const ENCODINGS = ['utf8', 'base64'] as const
export type Encoding = (typeof ENCODINGS)[number]

export interface OutputText {
  readonly text: string
  /** The text is not the whole output. */
  readonly truncated: boolean
}

export interface OutputTextOptions {
  readonly encoding: Encoding
  /** Limit of one stream; the whole stream is an artifact. */
  readonly mostBytes: number
  readonly blobs: BlobStore
}

/** The output of a stage, cut to the limit. */
export async function outputText(stream: StageStream, options: OutputTextOptions): Promise<OutputText> {
  const { bytes, isWhole } = await bytesOf(stream, options)
  return { text: encodedText(bytes, options.encoding), truncated: !isWhole || stream.droppedBytes > 0 }
}

async function bytesOf({ inline, digest }: StageStream, { mostBytes, blobs }: OutputTextOptions) {
  if (digest === undefined) {
    const bytes = inline ?? new Uint8Array()
    return { bytes: bytes.subarray(0, mostBytes), isWhole: bytes.length <= mostBytes }
  }
  const bytes = await readUpTo(blobs, digest, mostBytes)
  return { bytes, isWhole: bytes.length === digest.size }
}

/** A deleted blob reads as empty, so the output is marked as truncated. */
async function readUpTo(blobs: BlobStore, digest: NonNullable<StageStream['digest']>, most: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  try {
    const reader = await blobs.read(digest, { offset: 0, limit: Math.min(most, digest.size) })
    if (reader !== undefined) for await (const piece of reader.pieces) pieces.push(Buffer.from(piece))
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
  }
  return Buffer.concat(pieces)
}

/** A byte order mark is kept like any other character. */
export const encodedText = (bytes: Uint8Array, encoding: Encoding): string =>
  encoding === 'base64'
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** The number of bytes at the end that belong to an incomplete character. */
export function brokenTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return length > back && byte < 0xf8 ? back : 0
  }
  return 0
}
