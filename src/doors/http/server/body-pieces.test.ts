import { expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { bodyPieces, STALL_MS, withLongStart } from './body-pieces.ts'

const collect = async (pieces: AsyncIterable<Uint8Array>): Promise<string[]> => {
  const texts: string[] = []
  for await (const piece of pieces) texts.push(Buffer.from(piece).toString())
  return texts
}

const bodyOf = (...texts: string[]) =>
  new Request('http://localhost/', {
    method: 'PUT',
    body: ReadableStream.from(texts.map((text) => Buffer.from(text))),
    duplex: 'half',
  })

test('a body is read in its pieces, and a request without a body has none', async () => {
  expect(await collect(bodyPieces(bodyOf('one', 'two'), manualClock()))).toEqual(['one', 'two'])
  expect(await collect(bodyPieces(new Request('http://localhost/'), manualClock()))).toEqual([])
})

test('a body without bytes for STALL_MS is ended with 408, and a slow one is not', async () => {
  const clock = manualClock()
  let send: (text: string) => void = () => {}
  const body = new ReadableStream({
    start(controller) {
      send = (text) => controller.enqueue(Buffer.from(text))
    },
  })
  const pieces = bodyPieces(new Request('http://localhost/', { method: 'PUT', body, duplex: 'half' }), clock)
  for (const text of ['slow', 'but', 'steady']) {
    const next = pieces.next()
    clock.advance(STALL_MS - 1)
    send(text)
    expect(Buffer.from((await next).value ?? []).toString()).toBe(text)
  }
  const last = pieces.next()
  clock.advance(STALL_MS)
  await expect(last).rejects.toMatchObject({ status: 408 })
})

test('the first piece has at least the wanted length, or the whole body', async () => {
  async function* pieces(...texts: string[]) {
    for (const text of texts) yield Buffer.from(text)
  }
  expect(await collect(withLongStart(pieces('a', 'b', 'cd', 'e', 'f'), 3))).toEqual(['abcd', 'e', 'f'])
  expect(await collect(withLongStart(pieces('abcdef', 'g'), 3))).toEqual(['abcdef', 'g'])
  expect(await collect(withLongStart(pieces('a', 'b'), 3))).toEqual(['ab'])
  expect(await collect(withLongStart(pieces(), 3))).toEqual([])
})
