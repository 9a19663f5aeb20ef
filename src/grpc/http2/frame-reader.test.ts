import { describe, expect, test } from 'vitest'
import { continuation, data, frame, headers, lastData, paddedData, ping, settings } from '../../testing/http2-frames.ts'
import { Http2FrameReader, type Http2FrameSink } from './frame-reader.ts'
import { ConnectionFault, ERROR, FLAG, FRAME_TYPE, PREFACE } from './wire-format.ts'

const LARGEST = 100

/** Records the callbacks; joins the pieces of one DATA frame, because their boundaries depend on the network. */
class Notes implements Http2FrameSink {
  readonly lines: string[] = []
  #body = ''

  onFrame(type: number, flags: number, stream: number, buffer: Buffer, start: number, end: number): void {
    this.lines.push(`${type} flags ${flags} stream ${stream}: ${buffer.toString('latin1', start, end)}`)
  }

  onDataBegin(flags: number, stream: number, length: number): void {
    this.lines.push(`data flags ${flags} stream ${stream}, ${length} bytes`)
    this.#body = ''
  }

  onPadding(bytes: number): void {
    this.lines.push(`${bytes} of them padding`)
  }

  onDataPiece(buffer: Buffer, start: number, end: number, isLast: boolean): void {
    this.#body += buffer.toString('latin1', start, end)
    if (isLast) this.lines.push(`body: ${this.#body}`)
  }
}

function readIn(pieces: readonly Buffer[], expectPreface = false): string[] {
  const notes = new Notes()
  const reader = new Http2FrameReader(notes, { maxFrameBytes: LARGEST, expectPreface })
  for (const piece of pieces) reader.read(Buffer.from(piece))
  return notes.lines
}

const faultOf = (pieces: readonly Buffer[], expectPreface = false): ConnectionFault => {
  try {
    readIn(pieces, expectPreface)
  } catch (error) {
    return error as ConnectionFault
  }
  throw new Error('nothing was thrown')
}

const text = (value: string): Buffer => Buffer.from(value)

const conversation = Buffer.concat([
  settings([4, 1000]),
  headers(1, text('a header block')),
  data(1, text('some data')),
  data(1, Buffer.alloc(0)),
  paddedData(1, text('padded'), { padding: 7 }),
  paddedData(1, Buffer.alloc(0), { padding: 5 }),
  paddedData(1, Buffer.alloc(0), { padding: 0 }),
  ping(0, text('12345678')),
  paddedData(1, text('p'), { padding: 0, flags: FLAG.endStream }),
  continuation(3, Buffer.alloc(0)),
  frame({ type: 77, flags: 255, stream: 0x7fffffff }, text('unknown')),
  lastData(3, Buffer.alloc(0)),
  data(5, Buffer.alloc(LARGEST, 'x')),
])

describe('Http2FrameReader', () => {
  const whole = readIn([conversation])

  test('reports frames in order, DATA without its padding', () => {
    expect(whole).toEqual([
      '4 flags 0 stream 0: \0\x04\0\0\x03\xe8',
      '1 flags 4 stream 1: a header block',
      'data flags 0 stream 1, 9 bytes',
      'body: some data',
      'data flags 0 stream 1, 0 bytes',
      'body: ',
      'data flags 8 stream 1, 14 bytes',
      '8 of them padding',
      'body: padded',
      'data flags 8 stream 1, 6 bytes',
      '6 of them padding',
      'body: ',
      'data flags 8 stream 1, 1 bytes',
      '1 of them padding',
      'body: ',
      '6 flags 0 stream 0: 12345678',
      'data flags 9 stream 1, 2 bytes',
      '1 of them padding',
      'body: p',
      '9 flags 0 stream 3: ',
      '77 flags 255 stream 2147483647: unknown',
      'data flags 1 stream 3, 0 bytes',
      'body: ',
      'data flags 0 stream 5, 100 bytes',
      `body: ${'x'.repeat(100)}`,
    ])
  })

  test('reports the same frames when the input is split at any byte', () => {
    for (let cut = 0; cut <= conversation.length; cut++) {
      expect(readIn([conversation.subarray(0, cut), conversation.subarray(cut)])).toEqual(whole)
    }
  })

  test('reports the same frames when the input arrives in pieces of 1 to 40 bytes', () => {
    for (let size = 1; size <= 40; size++) {
      const pieces: Buffer[] = []
      for (let at = 0; at < conversation.length; at += size) pieces.push(conversation.subarray(at, at + size))
      expect(readIn(pieces)).toEqual(whole)
    }
  })

  test('ignores the reserved bit of a stream id', () => {
    expect(readIn([frame({ type: FRAME_TYPE.ping, stream: 0x80000001 }, text('12345678'))])).toEqual([
      '6 flags 0 stream 1: 12345678',
    ])
  })
})

describe('Http2FrameReader, frame over the size limit', () => {
  const types = { 'of data': FRAME_TYPE.data, 'of headers': FRAME_TYPE.headers, 'of an unknown type': 99 }

  test.each(Object.entries(types))('is refused with FRAME_SIZE_ERROR by its header alone, %s', (_name, type) => {
    const header = frame({ type, stream: 1 }, Buffer.alloc(LARGEST + 1)).subarray(0, 9)
    expect(faultOf([header]).code).toBe(ERROR.frameSize)
    expect(faultOf([header.subarray(0, 5), header.subarray(5)]).code).toBe(ERROR.frameSize)
  })

  test('is refused with FRAME_SIZE_ERROR at the maximum length of 16,777,215', () => {
    expect(faultOf([Buffer.from('ffffff000000000001', 'hex')]).code).toBe(ERROR.frameSize)
  })
})

describe('Http2FrameReader, padding', () => {
  test('as long as its frame is refused with PROTOCOL_ERROR', () => {
    expect(faultOf([data(1, Buffer.from([3, 0, 0]), FLAG.padded)]).code).toBe(ERROR.protocol)
    expect(faultOf([data(1, Buffer.from([255]), FLAG.padded)]).code).toBe(ERROR.protocol)
  })

  test('without a length byte is refused with FRAME_SIZE_ERROR', () => {
    expect(faultOf([data(1, Buffer.alloc(0), FLAG.padded)]).code).toBe(ERROR.frameSize)
  })
})

describe('Http2FrameReader, connection preface', () => {
  test('is accepted when split at any byte, with frames after it', () => {
    const hello = Buffer.concat([PREFACE, ping(0, text('12345678'))])
    for (let cut = 0; cut <= hello.length; cut++) {
      expect(readIn([hello.subarray(0, cut), hello.subarray(cut)], true)).toEqual(['6 flags 0 stream 0: 12345678'])
    }
  })

  test('is refused at the first byte that differs', () => {
    for (let at = 0; at < PREFACE.length; at++) {
      const wrong = Buffer.from(PREFACE.subarray(0, at + 1))
      wrong[at] = (wrong[at] as number) ^ 1
      expect(faultOf([wrong], true)).toBeInstanceOf(ConnectionFault)
    }
  })
})
