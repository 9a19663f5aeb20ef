import { MessageReader } from '../messages/message-reader.ts'
import { putHead, putVarint, varintLength } from '../messages/message-writer.ts'

/**
 * The messages of google.bytestream.ByteStream. Their data is never copied here: that of a request is a view into the
 * message, that of a response is sent as a separate part after a short head.
 */
export interface ReadRequest {
  readonly resourceName: string
  readonly offset: number
  /** 0 for no limit. */
  readonly limit: number
}

export function readReadRequest(bytes: Uint8Array): ReadRequest {
  const reader = new MessageReader(bytes, 'ReadRequest')
  let resourceName = ''
  let offset = 0
  let limit = 0
  while (reader.next()) {
    if (reader.field === 1) resourceName = reader.text()
    else if (reader.field === 2) offset = reader.count('read_offset')
    else if (reader.field === 3) limit = reader.count('read_limit')
    else reader.skip()
  }
  return { resourceName, offset, limit }
}

const DATA = 0x52

/** A ReadResponse in two parts, as `Outgoing.write` takes them. */
export function readResponse(data: Uint8Array): readonly [head: Uint8Array, data: Uint8Array] {
  const head = new Uint8Array(1 + varintLength(data.length))
  putHead(head, 0, DATA, data.length)
  return [head, data]
}

export interface WriteRequest {
  /** Empty in later messages of clients that send it once. */
  readonly resourceName: string
  readonly offset: number
  readonly finish: boolean
  readonly data: Uint8Array
}

const NOTHING = new Uint8Array(0)

export function readWriteRequest(bytes: Uint8Array): WriteRequest {
  const reader = new MessageReader(bytes, 'WriteRequest')
  let resourceName = ''
  let offset = 0
  let finish = false
  let data: Uint8Array = NOTHING
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        resourceName = reader.text()
        break
      case 2:
        offset = reader.count('write_offset')
        break
      case 3:
        finish = reader.bool()
        break
      case 10:
        data = reader.view()
        break
      default:
        reader.skip()
    }
  }
  return { resourceName, offset, finish, data }
}

/** -1: a compressed upload ended early, because the blob already existed. */
export const writeResponse = (committedSize: number): Uint8Array => sizeField(committedSize, NOTHING)

/** The resource name. */
export function readQueryWriteStatusRequest(bytes: Uint8Array): string {
  const reader = new MessageReader(bytes, 'QueryWriteStatusRequest')
  let resourceName = ''
  while (reader.next()) {
    if (reader.field === 1) resourceName = reader.text()
    else reader.skip()
  }
  return resourceName
}

const COMPLETE = Uint8Array.of(0x10, 1)

export const queryWriteStatusResponse = (committedSize: number, complete: boolean): Uint8Array =>
  sizeField(committedSize, complete ? COMPLETE : NOTHING)

function sizeField(size: number, rest: Uint8Array): Uint8Array {
  if (size === 0) return rest
  const out = new Uint8Array(1 + varintLength(size) + rest.length)
  out[0] = 0x08
  out.set(rest, putVarint(out, 1, size))
  return out
}
