import { describe, expect, test } from 'vitest'
import { message } from '../testing/http2-frames.ts'
import { type Random, randomFrom, seedOfRun } from '../testing/random-source.ts'
import type { Http2Stream } from './http2/stream.ts'
import { Inbox } from './inbox.ts'
import { GrpcError, STATUS } from './status.ts'

const MOST = 100_000

/** A fake stream that counts the bytes released and given back. */
function inbox(reuses = false) {
  const books = { released: 0, givenBack: 0 }
  const stream = {
    release: (bytes: number) => {
      books.released += bytes
    },
    giveBack: (bytes: number) => {
      books.givenBack += bytes
    },
  }
  return { books, inbox: new Inbox(stream as unknown as Http2Stream, MOST, reuses) }
}

const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString()

const say = (...texts: readonly string[]): Buffer => Buffer.concat(texts.map((each) => message(Buffer.from(each))))

describe('Inbox.next', () => {
  test('returns buffered messages in order, then undefined at the end', async () => {
    const { inbox: box } = inbox()
    box.push(say('one', '', 'three'))
    box.end()
    expect([text(await box.next()), text(await box.next()), text(await box.next())]).toEqual(['one', '', 'three'])
    expect(await box.next()).toBeUndefined()
    expect(await box.next()).toBeUndefined()
  })

  test('waits for the next message or the end of the stream', async () => {
    const { inbox: box } = inbox()
    const first = box.next()
    box.push(say('one').subarray(0, 6))
    box.push(say('one').subarray(6))
    expect(text(await first)).toBe('one')
    const end = box.next()
    box.end()
    expect(await end).toBeUndefined()
  })

  test('rejects a second concurrent reader', async () => {
    const { inbox: box } = inbox()
    const first = box.next()
    await expect(box.next()).rejects.toThrow(/one reader/)
    box.push(say('one'))
    expect(text(await first)).toBe('one')
  })

  test('rejects with the error of a failed call, for a waiting and for a later reader', async () => {
    const { inbox: box } = inbox()
    const waiting = box.next()
    box.fail(new GrpcError(STATUS.cancelled, 'gone'))
    await expect(waiting).rejects.toMatchObject({ code: STATUS.cancelled })
    await expect(box.next()).rejects.toMatchObject({ code: STATUS.cancelled })
  })

  test('rejects with INTERNAL when the input ends inside a message, after all whole messages', async () => {
    const { inbox: box } = inbox()
    box.push(say('whole', 'half').subarray(0, -1))
    try {
      box.end()
    } catch (error) {
      // Thrown by end() when no whole message is buffered.
      expect(error).toMatchObject({ code: STATUS.internal })
    }
    expect(text(await box.next())).toBe('whole')
    await expect(box.next()).rejects.toMatchObject({ code: STATUS.internal })
  })

  test('rejects with INTERNAL at an unreadable message, after the messages before it', async () => {
    const { inbox: box } = inbox()
    box.push(Buffer.concat([say('fine', 'too'), Buffer.from([9, 0, 0, 0, 0])]))
    expect(text(await box.next())).toBe('fine')
    expect(text(await box.next())).toBe('too')
    await expect(box.next()).rejects.toMatchObject({ code: STATUS.internal })
  })
})

describe('Inbox, flow-control window', () => {
  test('is given back while no whole message is buffered, also for part of a message', () => {
    const { books, inbox: box } = inbox()
    box.push(message(Buffer.alloc(50_000)).subarray(0, 40_000))
    expect(books.givenBack).toBe(40_000)
  })

  test('is withheld while a whole message is buffered, and given back when the last one is read', async () => {
    const { books, inbox: box } = inbox()
    const bytes = say('one', 'two', 'and half of a third')
    box.push(bytes.subarray(0, -4))
    box.push(bytes.subarray(-4, -2))
    expect(books.givenBack).toBe(0)
    await box.next()
    expect(books.givenBack).toBe(0)
    await box.next()
    expect(books.givenBack).toBe(bytes.length - 2)
    expect(books.released).toBe(say('one', 'two').length)
  })
})

/** Messages and pieces of random sizes, and a reader that reads at random times. */
async function talk(random: Random): Promise<void> {
  const sent = Array.from({ length: random.below(40) }, () => random.bytes(sizeOf(random)))
  const bytes = Buffer.concat(sent.map(message))
  const { books, inbox: box } = inbox()
  const got: Buffer[] = []
  const read = async (): Promise<boolean> => {
    const next = await box.next()
    if (next !== undefined) got.push(Buffer.from(next))
    return next !== undefined
  }
  let waiting: Promise<boolean> | undefined
  for (let at = 0; at < bytes.length; ) {
    const size = random.chance(0.5) ? 1 + random.below(20) : 1 + random.below(30_000)
    // A copy, because each socket read has its own buffer.
    box.push(Buffer.from(bytes.subarray(at, at + size)))
    at += size
    if (!random.chance(0.4)) continue
    await Promise.race([waiting ?? Promise.resolve(true), Promise.resolve()])
    waiting = (waiting ?? Promise.resolve(true)).then(read)
  }
  box.end()
  await waiting
  while (await read());
  expect(got.length).toBe(sent.length)
  expect(Buffer.concat(got).equals(Buffer.concat(sent))).toBe(true)
  expect(books).toEqual({ released: bytes.length, givenBack: bytes.length })
}

const sizeOf = (random: Random): number => {
  const way = random.below(4)
  if (way === 0) return 0
  return way === 1 ? random.below(10) : way === 2 ? random.below(5000) : random.below(MOST)
}

const seed = seedOfRun()

test(`Inbox delivers messages of random sizes without loss, duplicates or reordering (seed ${seed})`, async () => {
  const random = randomFrom(seed)
  for (let i = 0; i < 300; i++) await talk(random)
})

describe('Inbox with buffer reuse', () => {
  test('holds 20 messages of 60,000 bytes in fewer than 4 buffers', async () => {
    const { inbox: box } = inbox(true)
    const memory = new Set<ArrayBufferLike>()
    for (let i = 0; i < 20; i++) {
      box.push(message(Buffer.alloc(60_000, i)))
      const next = (await box.next()) as Uint8Array
      expect(next.every((byte) => byte === i)).toBe(true)
      memory.add(next.buffer)
    }
    expect(memory.size).toBeLessThan(4)
  })

  test('keeps the current message unchanged while others arrive', async () => {
    const { inbox: box } = inbox(true)
    box.push(message(Buffer.alloc(60_000, 1)))
    const reading = (await box.next()) as Uint8Array
    for (let i = 2; i < 10; i++) box.push(message(Buffer.alloc(40_000, i)))
    expect(reading.every((byte) => byte === 1)).toBe(true)
  })
})
