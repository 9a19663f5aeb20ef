import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as proto from '../gen/google/bytestream/bytestream.ts'
import {
  ACCIDENTS,
  amid,
  aSize,
  damaged,
  encodedAs,
  judged,
  orRefused,
  someText,
} from '../messages/messages.fixture.ts'
import {
  queryWriteStatusResponse,
  readQueryWriteStatusRequest,
  readReadRequest,
  readResponse,
  readWriteRequest,
  writeResponse,
} from './byte-stream.ts'

const aRead = fc.record({ resourceName: someText, offset: aSize, limit: aSize })
const readBytes = aRead.map(({ resourceName, offset, limit }) =>
  proto.ReadRequest.encode({ resourceName, readOffset: offset, readLimit: limit }).finish(),
)
const aWrite = fc.record({
  resourceName: someText,
  offset: aSize,
  finish: fc.boolean(),
  data: fc.uint8Array({ maxLength: 200 }),
})
const writeBytes = (write: { resourceName: string; offset: number; finish: boolean; data: Uint8Array }) =>
  proto.WriteRequest.encode({
    resourceName: write.resourceName,
    writeOffset: write.offset,
    finishWrite: write.finish,
    data: write.data,
  }).finish()

describe('ByteStream ReadRequest', () => {
  test('round-trips', () => {
    fc.assert(
      fc.property(aRead, (read) => {
        const { resourceName, offset: readOffset, limit: readLimit } = read
        const bytes = proto.ReadRequest.encode({ resourceName, readOffset, readLimit }).finish()
        expect(readReadRequest(amid(bytes))).toEqual(read)
      }),
    )
  })

  test('when damaged is refused, or reads the same as with another parser', () => {
    fc.assert(
      fc.property(damaged(readBytes), (bytes) => {
        const read = orRefused(() => readReadRequest(amid(bytes)))
        if (read === undefined) return
        const { resourceName, offset, limit } = read
        const expected = { resourceName, readOffset: BigInt(offset), readLimit: BigInt(limit) }
        expect(judged('google.bytestream.ReadRequest', bytes)).toMatchObject(expected)
      }),
      { numRuns: ACCIDENTS },
    )
  })

  test.each(['readOffset', 'readLimit'])('with a negative %s is refused', (field) => {
    const bytes = encodedAs(proto.ReadRequest, { [field]: -1 })
    expect(() => readReadRequest(bytes)).toThrow('is negative')
  })

  test('is answered by a header and the data itself, without a copy', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (data) => {
        const parts = readResponse(data)
        expect(parts[1]).toBe(data)
        expect(Uint8Array.from(proto.ReadResponse.decode(Buffer.concat(parts)).data)).toEqual(data)
      }),
    )
  })
})

describe('ByteStream WriteRequest', () => {
  test('round-trips, and its data is a view of the message', () => {
    fc.assert(
      fc.property(aWrite, (write) => {
        const message = amid(writeBytes(write))
        const { data, ...rest } = readWriteRequest(message)
        expect({ ...rest, data: Uint8Array.from(data) }).toEqual(write)
        if (data.length > 0) expect(data.buffer).toBe(message.buffer)
      }),
    )
  })

  test('when damaged is refused, or reads the same as with another parser', () => {
    fc.assert(
      fc.property(damaged(aWrite.map(writeBytes)), (bytes) => {
        const read = orRefused(() => readWriteRequest(amid(bytes)))
        if (read === undefined) return
        expect(judged('google.bytestream.WriteRequest', bytes)).toMatchObject({
          resourceName: read.resourceName,
          writeOffset: BigInt(read.offset),
          finishWrite: read.finish,
          data: Uint8Array.from(read.data),
        })
      }),
      { numRuns: ACCIDENTS },
    )
  })

  test.each([0, 1, 300, 2 ** 40, Number.MAX_SAFE_INTEGER, -1])('is answered with %d committed bytes', (size) => {
    expect(proto.WriteResponse.decode(writeResponse(size))).toEqual({ committedSize: size })
    for (const complete of [true, false]) {
      const answer = proto.QueryWriteStatusResponse.decode(queryWriteStatusResponse(size, complete))
      expect(answer).toEqual({ committedSize: size, complete })
    }
  })

  test('QueryWriteStatusRequest is read as its resource name', () => {
    fc.assert(
      fc.property(someText, (resourceName) => {
        const bytes = proto.QueryWriteStatusRequest.encode({ resourceName }).finish()
        expect(readQueryWriteStatusRequest(amid(bytes))).toBe(resourceName)
        orRefused(() => readQueryWriteStatusRequest(bytes.subarray(1)))
      }),
    )
  })
})
