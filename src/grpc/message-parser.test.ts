import { describe, expect, test } from 'vitest'
import { message } from '../testing/http2-frames.ts'
import { MessageParser, soleMessage } from './message-parser.ts'
import { type GrpcError, STATUS } from './status.ts'

const MOST = 1000

function pushAll(parser: MessageParser, bytes: Uint8Array, messages: Uint8Array[]): void {
  for (let at = 0; at < bytes.length; ) {
    at = parser.parse(bytes, at)
    if (parser.message !== undefined) messages.push(parser.message)
  }
}

function parse(...pieces: readonly Uint8Array[]): { messages: string[]; isBetween: boolean } {
  const parser = new MessageParser(MOST)
  const messages: Uint8Array[] = []
  for (const piece of pieces) pushAll(parser, piece, messages)
  return { messages: messages.map((bytes) => Buffer.from(bytes).toString()), isBetween: parser.isBetweenMessages }
}

const codeOf = (work: () => unknown): number | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as GrpcError).code
  }
}

const TEXTS = ['', 'a', 'hello', '', 'x'.repeat(300), 'last']
const BODY = Buffer.concat(TEXTS.map((text) => message(Buffer.from(text))))

describe('MessageParser', () => {
  test('finds all messages in one piece', () => {
    expect(parse(BODY)).toEqual({ messages: TEXTS, isBetween: true })
  })

  test('finds the same messages when the body is split at any byte', () => {
    for (let cut = 0; cut <= BODY.length; cut++) {
      expect(parse(BODY.subarray(0, cut), BODY.subarray(cut))).toEqual({ messages: TEXTS, isBetween: true })
    }
  })

  test('finds the same messages in pieces of 1 to 20 bytes', () => {
    for (let size = 1; size <= 20; size++) {
      const pieces: Buffer[] = []
      for (let at = 0; at < BODY.length; at += size) pieces.push(BODY.subarray(at, at + size))
      expect(parse(...pieces)).toEqual({ messages: TEXTS, isBetween: true })
    }
  })

  test('reports a message as soon as its last byte has arrived', () => {
    const parser = new MessageParser(MOST)
    const messages: Uint8Array[] = []
    const body = message(Buffer.from('abc'))
    for (const byte of body.subarray(0, -1)) pushAll(parser, Buffer.from([byte]), messages)
    expect(messages).toHaveLength(0)
    pushAll(parser, body.subarray(-1), messages)
    expect(messages).toHaveLength(1)
    pushAll(parser, message(Buffer.alloc(0)).subarray(0, 4), messages)
    expect(messages).toHaveLength(1)
    pushAll(parser, Buffer.from([0]), messages)
    expect(messages).toHaveLength(2)
  })

  test('is not between messages after part of a message', () => {
    for (let cut = 1; cut < 8; cut++) {
      expect(parse(message(Buffer.from('abc')).subarray(0, cut))).toEqual({ messages: [], isBetween: false })
    }
    expect(parse().isBetween).toBe(true)
  })

  test('copies the bytes of a message that is split over several pieces', () => {
    const parser = new MessageParser(MOST)
    const messages: Uint8Array[] = []
    const [one, other] = [message(Buffer.from('abcdef')).subarray(0, 8), Buffer.from('def')]
    pushAll(parser, one, messages)
    one.fill(0)
    pushAll(parser, other, messages)
    other.fill(0)
    expect(Buffer.from(messages[0] as Uint8Array).toString()).toBe('abcdef')
  })
})

describe('a message over the size limit', () => {
  test('is refused with RESOURCE_EXHAUSTED after its five-byte prefix', () => {
    const body = message(Buffer.alloc(MOST + 1))
    expect(codeOf(() => parse(body.subarray(0, 5)))).toBe(STATUS.resourceExhausted)
    expect(codeOf(() => parse(body.subarray(0, 4)))).toBe(undefined)
    expect(codeOf(() => soleMessage(body, MOST))).toBe(STATUS.resourceExhausted)
  })

  test('is refused with RESOURCE_EXHAUSTED at the maximum length of 4 GiB - 1', () => {
    const prefix = Buffer.from('00ffffffff', 'hex')
    expect(codeOf(() => parse(prefix))).toBe(STATUS.resourceExhausted)
    expect(codeOf(() => new MessageParser(0xffffffff).parse(prefix, 0))).toBe(undefined)
  })

  test('is refused only over the limit: a message of exactly the limit is accepted', () => {
    expect(parse(message(Buffer.alloc(MOST))).messages).toHaveLength(1)
  })
})

describe('the flags of a message prefix', () => {
  test('with the compressed bit are refused with UNIMPLEMENTED', () => {
    const body = Buffer.from('0100000000', 'hex')
    expect(codeOf(() => parse(body))).toBe(STATUS.unimplemented)
    expect(codeOf(() => soleMessage(body, MOST))).toBe(STATUS.unimplemented)
  })

  test('with an unknown bit are refused with INTERNAL', () => {
    for (const flags of [2, 3, 0x80, 0xff]) {
      expect(codeOf(() => parse(Buffer.from([flags, 0, 0, 0, 0])))).toBe(STATUS.internal)
    }
  })
})

describe('soleMessage', () => {
  test('returns the only message of a body as a view of that body', () => {
    const body = message(Buffer.from('one'))
    const sole = soleMessage(body, MOST) as Uint8Array
    expect(Buffer.from(sole).toString()).toBe('one')
    expect(sole.buffer).toBe(body.buffer)
  })

  test('returns undefined when the body holds more or less than one message', () => {
    const body = message(Buffer.from('one'))
    expect(soleMessage(Buffer.concat([body, body]), MOST)).toBeUndefined()
    expect(soleMessage(Buffer.concat([body, Buffer.alloc(1)]), MOST)).toBeUndefined()
    for (let cut = 0; cut < body.length; cut++) expect(soleMessage(body.subarray(0, cut), MOST)).toBeUndefined()
  })
})
