import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STATUS } from '../../src/grpc/status.ts'
import {
  type Conversation,
  type InteropClient,
  type InteropServer,
  MAX_MESSAGE_BYTES,
  METHODS,
  type Outcome,
  SERVICE,
} from './conversation.ts'
import { DETAILS, FAIL_TRAILERS, failure, large, payload, repeat, type Seen, tally } from './requests.ts'

export interface Pair {
  readonly client: InteropClient
  readonly server: InteropServer
}

export interface PairTraits {
  /** The number of concurrent calls on one connection. */
  readonly crowd?: number
}

const MiB = 1024 * 1024
/** Sizes around the limits of frames (16,384 bytes, a prefix of 5 included) and windows (65,535). */
const SIZES = [0, 1, 16_384 - 5, 16_384, 65_535, MiB, 4 * MiB + 1]

/** Behaviour that every pair of client and server of the Interop service must have. */
export function interopContract(start: () => Promise<Pair>, { crowd = 500 }: PairTraits = {}): void {
  let pair: Pair
  beforeAll(async () => {
    pair = await start()
  })
  afterAll(async () => {
    await pair?.client.close()
    await pair?.server.close()
  })
  const send: Say = (method, messages, more = {}) => {
    const kind = METHODS[method] ?? 'unary'
    return pair.client.converse({
      method: method.startsWith('/') ? method : `/${SERVICE}/${method}`,
      kind,
      messages,
      ...more,
    })
  }

  describe('messages', () => messagesContract(send, crowd))
  describe('metadata and status', () => statusContract(send))
  describe('deadlines, cancellation and early responses', () => endsContract(send))
}

type Say = (method: string, messages: readonly Uint8Array[], more?: Partial<Conversation>) => Promise<Outcome>

function messagesContract(send: Say, crowd: number): void {
  test.each(SIZES)('of %i bytes pass unchanged through every kind of call', async (size) => {
    const message = payload(size)
    expectAnswers(await send('Unary', [message]), [message])
    expectAnswers(await send('ServerStream', [repeat(3, message)]), [message, message, message])
    expectAnswers(await send('ClientStream', [message, message]), [tally([message, message])])
    expectAnswers(await send('Bidi', [message, message, message]), [message, message, message])
  })

  test('may be absent in a stream', async () => {
    expectAnswers(await send('ServerStream', [repeat(0, payload(1))]), [])
    expectAnswers(await send('ClientStream', []), [tally([])])
    expectAnswers(await send('Bidi', []), [])
  })

  test('of many sizes keep their order', async () => {
    const messages = Array.from({ length: 300 }, (_, i) => payload((i * 977) % 40_000))
    expectAnswers(await send('ClientStream', messages), [tally(messages)])
    expectAnswers(await send('Bidi', messages), messages)
  })

  test('of a few bytes pass in streams of 5,000', async () => {
    const messages = Array.from({ length: 5000 }, (_, i) => payload(i % 7))
    expectAnswers(await send('ClientStream', messages), [tally(messages)])
    expectAnswers(await send('Bidi', messages), messages)
  })

  test('can be sent in alternation', async () => {
    const messages = [payload(3), payload(0), payload(70_000), payload(1)]
    expectAnswers(await send('Bidi', messages, { inTurns: true }), messages)
  })

  test(`of ${crowd} concurrent calls do not mix`, async () => {
    const calls = Array.from({ length: crowd }, async (_, i) => {
      const message = Buffer.from(`call ${i} ${'.'.repeat(i)}`)
      expectAnswers(await send(i % 10 === 0 ? 'Bidi' : 'Unary', [message]), [message])
    })
    await Promise.all(calls)
  })

  test('above the limit are refused by the server with RESOURCE_EXHAUSTED', async () => {
    const message = payload(MAX_MESSAGE_BYTES + 1)
    expect((await send('Unary', [message])).code).toBe(STATUS.resourceExhausted)
    expect((await send('ClientStream', [message])).code).toBe(STATUS.resourceExhausted)
    expectAnswers(await send('Unary', [payload(9)]), [payload(9)])
  })

  test('above the limit are refused by the client with RESOURCE_EXHAUSTED', async () => {
    const outcome = await send('Large', [large(2, MAX_MESSAGE_BYTES + 1)])
    expect(outcome).toMatchObject({ code: STATUS.resourceExhausted, answers: [] })
    expectAnswers(await send('Unary', [payload(9)]), [payload(9)])
  })
}

function statusContract(send: Say): void {
  test('text and binary metadata are returned in headers and trailers', async () => {
    const fields = {
      'x-text': ['plain'],
      'x-many': ['one', 'two', 'three'],
      'x-bytes-bin': [base64([0, 255, 128, 10, 13])],
      'x-more-bin': [base64([1]), base64([2, 3]), base64([4, 5, 6])],
      'x-empty-bin': [''],
      'x-empty': [''],
      'x-signs': ['~!@#$%^&*()_+`-={}|[]\\:";\'<>?./'],
    }
    const { code, headers, trailers } = await send('Metadata', [payload(0)], { fields })
    expect({ code, headers, trailers }).toEqual({ code: 0, headers: fields, trailers: fields })
  })

  test('metadata may be longer than a frame', async () => {
    const long = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`x-long-${i}`, [`${i}~`.repeat(1500)]]))
    const { code, headers, trailers } = await send('Metadata', [payload(0)], { fields: long })
    expect({ code, headers, trailers }).toEqual({ code: 0, headers: long, trailers: long })
    expectAnswers(await send('Unary', [payload(9)]), [payload(9)])
  })

  test('a failed call returns its Unicode message, its details and its trailers', async () => {
    const message = 'café 一二三 🪢 100% \n and a line'
    const outcome = await send('Fail', [failure(STATUS.failedPrecondition, message)])
    expect(outcome).toMatchObject({ code: STATUS.failedPrecondition, message, details: DETAILS, answers: [] })
    expect(outcome.trailers).toEqual(FAIL_TRAILERS)
  })

  test('every status code arrives unchanged', async () => {
    for (const code of Object.values(STATUS).filter((each) => each !== STATUS.ok)) {
      expect(await send('Fail', [failure(code, '')])).toMatchObject({ code })
    }
  })

  test('an unknown method is UNIMPLEMENTED', async () => {
    expect((await send('Nothing', [payload(1)])).code).toBe(STATUS.unimplemented)
    expect((await send('/no.such.Service/Unary', [payload(1)])).code).toBe(STATUS.unimplemented)
    expect((await send('Nothing', [payload(1)], { kind: 'bidi' })).code).toBe(STATUS.unimplemented)
  })
}

function endsContract(send: Say): void {
  const seen = async (): Promise<Seen> => JSON.parse(String((await send('Seen', [payload(0)])).answers[0]))
  const seenWhen = async (isSo: (seen: Seen) => boolean): Promise<Seen> => {
    for (;;) {
      const now = await seen()
      if (isSo(now)) return now
      await sleep(5)
    }
  }

  test('a deadline ends the call on both sides', async () => {
    const before = await seen()
    const outcome = await send('Slow', [payload(1)], { timeoutMs: 300 })
    expect(outcome.code).toBe(STATUS.deadlineExceeded)
    // On a busy machine the deadline may pass before the server has received the call.
    const { remainingMs } = await seenWhen((now) => now.stopped === now.waiting)
    if ((await seen()).waiting > before.waiting) expect(remainingMs).toBeLessThanOrEqual(310)
  })

  test('a deadline ends a call in which both sides could still send', async () => {
    const outcome = await send('Bidi', [payload(1)], { staysOpen: true, timeoutMs: 200 })
    expect(outcome.code).toBe(STATUS.deadlineExceeded)
  })

  test('a deadline of 1 ms is kept', async () => {
    const outcome = await send('Slow', [payload(1)], { timeoutMs: 1 })
    expect(outcome.code).toBe(STATUS.deadlineExceeded)
  })

  test('a call without a deadline has none on the server', async () => {
    await send('Slow', [payload(1)], { cancelAfter: 1 })
    expect(await seenWhen((now) => now.stopped === now.waiting)).toMatchObject({ remainingMs: null })
  })

  test('a cancelled call ends on both sides', async () => {
    const before = await seen()
    const outcome = await send('Slow', [payload(5)], { cancelAfter: 1 })
    expect(outcome).toMatchObject({ code: STATUS.cancelled, answers: [payload(5)] })
    await seenWhen((now) => now.waiting === before.waiting + 1 && now.stopped === now.waiting)
  })

  test('a call in which both sides could still send can be cancelled', async () => {
    const outcome = await send('Bidi', [payload(5)], { staysOpen: true, cancelAfter: 1 })
    expect(outcome).toMatchObject({ code: STATUS.cancelled, answers: [payload(5)] })
  })

  test('a response may be sent before the request stream has ended', async () => {
    expectAnswers(await send('Early', [payload(7)], { staysOpen: true }), [payload(7)])
    const long = [payload(8), ...Array.from({ length: 50 }, () => payload(MiB))]
    expectAnswers(await send('Early', long), [payload(8)])
    expectAnswers(await send('EarlyBidi', [payload(7)], { staysOpen: true }), [payload(7)])
    expectAnswers(await send('EarlyBidi', long), [payload(8)])
    expectAnswers(await send('Unary', [payload(9)]), [payload(9)])
  })
}

/** Compares large buffers as a whole: a difference need not be shown byte by byte. */
function expectAnswers(outcome: Outcome, expected: readonly Buffer[]): void {
  expect(outcome).toMatchObject({ code: STATUS.ok })
  expect(outcome.answers.map(({ length }) => length)).toEqual(expected.map(({ length }) => length))
  expect(outcome.answers.every((answer, i) => answer.equals(expected[i] as Buffer))).toBe(true)
}

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64')
