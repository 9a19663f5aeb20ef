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

describe('messages', () => {
  test('are found in one piece', () => {
    expect(parse(BODY)).toEqual({ messages: TEXTS, isBetween: true })
  })

  test('are the same wherever they are cut in two', () => {
    for (let cut = 0; cut <= BODY.length; cut++) {
      expect(parse(BODY.subarray(0, cut), BODY.subarray(cut))).toEqual({ messages: TEXTS, isBetween: true })
    }
  })

  test('are the same in pieces of any one size', () => {
    for (let size = 1; size <= 20; size++) {
      const pieces: Buffer[] = []
      for (let at = 0; at < BODY.length; at += size) pieces.push(BODY.subarray(at, at + size))
      expect(parse(...pieces)).toEqual({ messages: TEXTS, isBetween: true })
    }
  })

  test('are told as soon as they are whole', () => {
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

  test('that are not whole are known to be missing something', () => {
    for (let cut = 1; cut < 8; cut++) {
      expect(parse(message(Buffer.from('abc')).subarray(0, cut))).toEqual({ messages: [], isBetween: false })
    }
    expect(parse().isBetween).toBe(true)
  })

  test('keep their bytes when the pieces they came in are used again', () => {
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

describe('a message that is too long', () => {
  test('is refused by its prefix alone', () => {
    const body = message(Buffer.alloc(MOST + 1))
    expect(codeOf(() => parse(body.subarray(0, 5)))).toBe(STATUS.resourceExhausted)
    expect(codeOf(() => parse(body.subarray(0, 4)))).toBe(undefined)
    expect(codeOf(() => soleMessage(body, MOST))).toBe(STATUS.resourceExhausted)
  })

  test('is refused even at the largest length there is', () => {
    const prefix = Buffer.from('00ffffffff', 'hex')
    expect(codeOf(() => parse(prefix))).toBe(STATUS.resourceExhausted)
    expect(codeOf(() => new MessageParser(0xffffffff).parse(prefix, 0))).toBe(undefined)
  })

  test('by one byte less is not', () => {
    expect(parse(message(Buffer.alloc(MOST))).messages).toHaveLength(1)
  })
})

describe('flags before a message', () => {
  test('that say it is compressed are not supported', () => {
    const body = Buffer.from('0100000000', 'hex')
    expect(codeOf(() => parse(body))).toBe(STATUS.unimplemented)
    expect(codeOf(() => soleMessage(body, MOST))).toBe(STATUS.unimplemented)
  })

  test('that nobody knows are an error', () => {
    for (const flags of [2, 3, 0x80, 0xff]) {
      expect(codeOf(() => parse(Buffer.from([flags, 0, 0, 0, 0])))).toBe(STATUS.internal)
    }
  })
})

describe('a body with one message', () => {
  test('is recognised, and the message is a view of it', () => {
    const body = message(Buffer.from('one'))
    const sole = soleMessage(body, MOST) as Uint8Array
    expect(Buffer.from(sole).toString()).toBe('one')
    expect(sole.buffer).toBe(body.buffer)
  })

  test('is not taken for one when it holds more or less', () => {
    const body = message(Buffer.from('one'))
    expect(soleMessage(Buffer.concat([body, body]), MOST)).toBeUndefined()
    expect(soleMessage(Buffer.concat([body, Buffer.alloc(1)]), MOST)).toBeUndefined()
    for (let cut = 0; cut < body.length; cut++) expect(soleMessage(body.subarray(0, cut), MOST)).toBeUndefined()
  })
})
