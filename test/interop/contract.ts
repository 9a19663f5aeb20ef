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
  /** Calls at once on one connection. */
  readonly crowd?: number
}

const MiB = 1024 * 1024
/** Around the edges of frames (16,384 bytes, a prefix of 5 included) and windows (65,535). */
const SIZES = [0, 1, 16_384 - 5, 16_384, 65_535, MiB, 4 * MiB + 1]

/** What any client and any server of the Interop service must be able to do together. */
export function interopContract(start: () => Promise<Pair>, { crowd = 500 }: PairTraits = {}): void {
  let pair: Pair
  beforeAll(async () => {
    pair = await start()
  })
  afterAll(async () => {
    await pair?.client.close()
    await pair?.server.close()
  })
  const say: Say = (method, messages, more = {}) => {
    const kind = METHODS[method] ?? 'unary'
    return pair.client.converse({
      method: method.startsWith('/') ? method : `/${SERVICE}/${method}`,
      kind,
      messages,
      ...more,
    })
  }

  describe('messages', () => messagesContract(say, crowd))
  describe('metadata and status', () => statusContract(say))
  describe('ends', () => endsContract(say))
}

type Say = (method: string, messages: readonly Uint8Array[], more?: Partial<Conversation>) => Promise<Outcome>

function messagesContract(say: Say, crowd: number): void {
  test.each(SIZES)('of %i bytes pass every kind of call unchanged', async (size) => {
    const message = payload(size)
    expectAnswers(await say('Unary', [message]), [message])
    expectAnswers(await say('ServerStream', [repeat(3, message)]), [message, message, message])
    expectAnswers(await say('ClientStream', [message, message]), [tally([message, message])])
    expectAnswers(await say('Bidi', [message, message, message]), [message, message, message])
  })

  test('may be none at all where a stream is expected', async () => {
    expectAnswers(await say('ServerStream', [repeat(0, payload(1))]), [])
    expectAnswers(await say('ClientStream', []), [tally([])])
    expectAnswers(await say('Bidi', []), [])
  })

  test('of many sizes keep their order', async () => {
    const messages = Array.from({ length: 300 }, (_, i) => payload((i * 977) % 40_000))
    expectAnswers(await say('ClientStream', messages), [tally(messages)])
    expectAnswers(await say('Bidi', messages), messages)
  })

  test('of a few bytes come by the thousands', async () => {
    const messages = Array.from({ length: 5000 }, (_, i) => payload(i % 7))
    expectAnswers(await say('ClientStream', messages), [tally(messages)])
    expectAnswers(await say('Bidi', messages), messages)
  })

  test('can be said in turns', async () => {
    const messages = [payload(3), payload(0), payload(70_000), payload(1)]
    expectAnswers(await say('Bidi', messages, { inTurns: true }), messages)
  })

  test(`of ${crowd} calls at once do not mix`, async () => {
    const calls = Array.from({ length: crowd }, async (_, i) => {
      const message = Buffer.from(`call ${i} ${'.'.repeat(i)}`)
      expectAnswers(await say(i % 10 === 0 ? 'Bidi' : 'Unary', [message]), [message])
    })
    await Promise.all(calls)
  })

  test('over the limit are refused by the server', async () => {
    const message = payload(MAX_MESSAGE_BYTES + 1)
    expect((await say('Unary', [message])).code).toBe(STATUS.resourceExhausted)
    expect((await say('ClientStream', [message])).code).toBe(STATUS.resourceExhausted)
    expectAnswers(await say('Unary', [payload(9)]), [payload(9)])
  })

  test('over the limit are refused by the client', async () => {
    const outcome = await say('Large', [large(2, MAX_MESSAGE_BYTES + 1)])
    expect(outcome).toMatchObject({ code: STATUS.resourceExhausted, answers: [] })
    expectAnswers(await say('Unary', [payload(9)]), [payload(9)])
  })
}

function statusContract(say: Say): void {
  test('text and bytes come back, at the beginning and at the end', async () => {
    const fields = {
      'x-text': ['plain'],
      'x-many': ['one', 'two', 'three'],
      'x-bytes-bin': [base64([0, 255, 128, 10, 13])],
      'x-more-bin': [base64([1]), base64([2, 3]), base64([4, 5, 6])],
      'x-empty-bin': [''],
      'x-empty': [''],
      'x-signs': ['~!@#$%^&*()_+`-={}|[]\\:";\'<>?./'],
    }
    const { code, headers, trailers } = await say('Metadata', [payload(0)], { fields })
    expect({ code, headers, trailers }).toEqual({ code: 0, headers: fields, trailers: fields })
  })

  test('metadata may be longer than a frame', async () => {
    const long = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`x-long-${i}`, [`${i}~`.repeat(1500)]]))
    const { code, headers, trailers } = await say('Metadata', [payload(0)], { fields: long })
    expect({ code, headers, trailers }).toEqual({ code: 0, headers: long, trailers: long })
    expectAnswers(await say('Unary', [payload(9)]), [payload(9)])
  })

  test('a failed call brings its words in any script, its details and its trailers', async () => {
    const message = 'café 一二三 🪢 100% \n and a line'
    const outcome = await say('Fail', [failure(STATUS.failedPrecondition, message)])
    expect(outcome).toMatchObject({ code: STATUS.failedPrecondition, message, details: DETAILS, answers: [] })
    expect(outcome.trailers).toEqual(FAIL_TRAILERS)
  })

  test('every status code arrives as it was', async () => {
    for (const code of Object.values(STATUS).filter((each) => each !== STATUS.ok)) {
      expect(await say('Fail', [failure(code, '')])).toMatchObject({ code })
    }
  })

  test('what nobody serves is unimplemented', async () => {
    expect((await say('Nothing', [payload(1)])).code).toBe(STATUS.unimplemented)
    expect((await say('/no.such.Service/Unary', [payload(1)])).code).toBe(STATUS.unimplemented)
    expect((await say('Nothing', [payload(1)], { kind: 'bidi' })).code).toBe(STATUS.unimplemented)
  })
}

function endsContract(say: Say): void {
  const seen = async (): Promise<Seen> => JSON.parse(String((await say('Seen', [payload(0)])).answers[0]))
  const seenWhen = async (isSo: (seen: Seen) => boolean): Promise<Seen> => {
    for (;;) {
      const now = await seen()
      if (isSo(now)) return now
      await sleep(5)
    }
  }

  test('a deadline ends the call on both ends', async () => {
    const before = await seen()
    const outcome = await say('Slow', [payload(1)], { timeoutMs: 300 })
    expect(outcome.code).toBe(STATUS.deadlineExceeded)
    // A busy machine may let it pass before the server has even heard of the call.
    const { remainingMs } = await seenWhen((now) => now.stopped === now.waiting)
    if ((await seen()).waiting > before.waiting) expect(remainingMs).toBeLessThanOrEqual(310)
  })

  test('a deadline ends a call in which both sides could still speak', async () => {
    const outcome = await say('Bidi', [payload(1)], { staysOpen: true, timeoutMs: 200 })
    expect(outcome.code).toBe(STATUS.deadlineExceeded)
  })

  test('a deadline that is all but over is kept', async () => {
    const outcome = await say('Slow', [payload(1)], { timeoutMs: 1 })
    expect(outcome.code).toBe(STATUS.deadlineExceeded)
  })

  test('a call without a deadline has none', async () => {
    await say('Slow', [payload(1)], { cancelAfter: 1 })
    expect(await seenWhen((now) => now.stopped === now.waiting)).toMatchObject({ remainingMs: null })
  })

  test('a cancelled call ends on both ends', async () => {
    const before = await seen()
    const outcome = await say('Slow', [payload(5)], { cancelAfter: 1 })
    expect(outcome).toMatchObject({ code: STATUS.cancelled, answers: [payload(5)] })
    await seenWhen((now) => now.waiting === before.waiting + 1 && now.stopped === now.waiting)
  })

  test('a call in which both sides could still speak can be cancelled', async () => {
    const outcome = await say('Bidi', [payload(5)], { staysOpen: true, cancelAfter: 1 })
    expect(outcome).toMatchObject({ code: STATUS.cancelled, answers: [payload(5)] })
  })

  test('an answer may come before the question has ended', async () => {
    expectAnswers(await say('Early', [payload(7)], { staysOpen: true }), [payload(7)])
    const long = [payload(8), ...Array.from({ length: 50 }, () => payload(MiB))]
    expectAnswers(await say('Early', long), [payload(8)])
    expectAnswers(await say('EarlyBidi', [payload(7)], { staysOpen: true }), [payload(7)])
    expectAnswers(await say('EarlyBidi', long), [payload(8)])
    expectAnswers(await say('Unary', [payload(9)]), [payload(9)])
  })
}

/** Large buffers are compared as a whole: a difference need not be shown byte by byte. */
function expectAnswers(outcome: Outcome, expected: readonly Buffer[]): void {
  expect(outcome).toMatchObject({ code: STATUS.ok })
  expect(outcome.answers.map(({ length }) => length)).toEqual(expected.map(({ length }) => length))
  expect(outcome.answers.every((answer, i) => answer.equals(expected[i] as Buffer))).toBe(true)
}

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64')
