import { expect, test } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import type { StreamOutputPiece } from '../../wire/workers/report.ts'
import { httpOutputWay } from './http-output-way.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function open() {
  const clock = manualClock()
  const posts: { readonly text: string; answer(isSent: boolean): Promise<void> }[] = []
  let caughtUp = 0
  const way = httpOutputWay({
    clock,
    caughtUp: () => void caughtUp++,
    post: (attemptId, pieces) =>
      new Promise((resolve) => {
        const text = `${attemptId}:${pieces.map(({ bytes }) => (bytes.length > 10 ? bytes.length : Buffer.from(bytes))).join('+')}`
        posts.push({
          text,
          answer(isSent) {
            resolve(isSent)
            return settled()
          },
        })
      }),
  })
  const print = (attemptId: string, bytes: Buffer): void => {
    const piece: StreamOutputPiece = { worker: 'w', attemptId, stream: 'stdout', bytes, at: 0 }
    way.write(piece)
    bytes.fill(0) // the caller may reuse its buffer
  }
  return { clock, way, posts, print, caughtUp: () => caughtUp, texts: () => posts.map(({ text }) => text) }
}

test('one POST is sent at a time, and the next contains all output of one attempt so far', async () => {
  const { print, posts, texts } = open()
  print('a', Buffer.from('1'))
  print('a', Buffer.from('2'))
  print('a', Buffer.from('3'))
  print('b', Buffer.from('4'))
  expect(texts()).toEqual(['a:1'])
  await posts[0]?.answer(true)
  expect(texts()).toEqual(['a:1', 'a:2+3'])
  await posts[1]?.answer(true)
  expect(texts()).toEqual(['a:1', 'a:2+3', 'b:4'])
})

test('the state is behind while output is queued, and open again when it was sent', async () => {
  const { print, posts, way, caughtUp } = open()
  for (let i = 0; i < 10; i++) print('a', Buffer.alloc(64 * 1024))
  expect(way.state()).toBe('behind')
  await posts[0]?.answer(true)
  await posts[1]?.answer(true)
  expect(way.state()).toBe('open')
  expect(caughtUp()).toBeGreaterThan(0)
})

test('output that cannot be sent is dropped, and the next POST is sent after 1 s', async () => {
  const { print, posts, way, clock, texts } = open()
  print('a', Buffer.from('1'))
  print('a', Buffer.from('2'))
  await posts[0]?.answer(false)
  expect([way.state(), texts()]).toEqual(['none', ['a:1']])
  clock.advance(1000)
  expect(way.state()).toBe('open')
  print('a', Buffer.from('3'))
  expect(texts()).toEqual(['a:1', 'a:3'])
})
