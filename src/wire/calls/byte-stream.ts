import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putField, putHead, putVarint, varintLength } from '../messages/message-writer.ts'

/** ByteStream on the client's side; `wire/hot/byte-stream.ts` is the server's side. */
const NAME = 0x0a
const OFFSET = 0x10
const LIMIT = 0x18
const FINISH = 0x18
const DATA = 0x52
const NOTHING = new Uint8Array(0)

export interface ReadQuestion {
  readonly resourceName: string
  readonly offset: number
  /** 0 for no limit. */
  readonly limit: number
}

export function readRequest({ resourceName, offset, limit }: ReadQuestion): Uint8Array {
  const name = Buffer.from(resourceName)
  const out = Buffer.allocUnsafe(fieldLength(name.length) + numberLength(offset) + numberLength(limit))
  const at = putNumber(out, putField(out, 0, NAME, name), { tag: OFFSET, value: offset })
  putNumber(out, at, { tag: LIMIT, value: limit })
  return out
}

/** The data of a ReadResponse, as a view into it. */
export function readReadResponse(bytes: Uint8Array): Uint8Array {
  const reader = new MessageReader(bytes, 'ReadResponse')
  let data: Uint8Array = NOTHING
  while (reader.next()) {
    if (reader.field === 10) data = reader.view()
    else reader.skip()
  }
  return data
}

export interface WritePart {
  /** In the first message only. */
  readonly resourceName: string
  readonly offset: number
  readonly finish: boolean
  readonly data: Uint8Array
}

/** A WriteRequest in two parts, so that the data need not be copied. */
export function writeRequest({ resourceName, offset, finish, data }: WritePart): readonly Uint8Array[] {
  const name = Buffer.from(resourceName)
  const nameLength = name.length === 0 ? 0 : fieldLength(name.length)
  const dataHead = data.length === 0 ? 0 : 1 + varintLength(data.length)
  const head = Buffer.allocUnsafe(nameLength + numberLength(offset) + (finish ? 2 : 0) + dataHead)
  let at = name.length === 0 ? 0 : putField(head, 0, NAME, name)
  at = putNumber(head, at, { tag: OFFSET, value: offset })
  at = putNumber(head, at, { tag: FINISH, value: finish ? 1 : 0 })
  if (data.length === 0) return [head]
  putHead(head, at, DATA, data.length)
  return [head, data]
}

/** The committed size; -1 when the server already had the blob and did not count the bytes. */
export function readWriteResponse(bytes: Uint8Array): number {
  const reader = new MessageReader(bytes, 'WriteResponse')
  let committed = 0
  while (reader.next()) {
    if (reader.field === 1 && reader.type === 0) committed = reader.varint()
    else reader.skip()
  }
  return committed > Number.MAX_SAFE_INTEGER ? -1 : committed
}

const numberLength = (value: number): number => (value === 0 ? 0 : 1 + varintLength(value))

function putNumber(out: Uint8Array, at: number, { tag, value }: { tag: number; value: number }): number {
  if (value === 0) return at
  out[at] = tag
  return putVarint(out, at + 1, value)
}
