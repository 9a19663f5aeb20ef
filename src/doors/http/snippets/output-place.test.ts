import { expect, test } from 'vitest'
import { brokenTail } from '../../../services/snippets/output-text.ts'
import { randomFrom, seedOfRun } from '../../../testing/random-source.ts'
import { outputViews, positionIn, positionText } from './output-place.ts'

const piece = (bytes: Uint8Array, at?: number, attempt = 1) => ({
  stream: 'stdout' as const,
  attempt,
  bytes,
  at,
  missed: 0,
})

const START = positionIn(undefined)
const seed = seedOfRun()

test(`however it is cut, and wherever a reader begins again, the text is whole (seed ${seed})`, () => {
  const random = randomFrom(seed)
  const text = 'aé漢😀\n'.repeat(20)
  const bytes = Buffer.from(text)
  for (let round = 0; round < 100; round++) {
    let told = ''
    let place = START
    let tell = outputViews(START, 'utf8')
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + 1 + random.below(7))
      if (random.chance(0.2)) {
        // The connection is lost: the ring tells it from the beginning.
        tell = outputViews(positionIn(positionText(place)), 'utf8')
        const again = tell(piece(bytes.subarray(0, at), 0))
        if (again !== undefined) [told, place] = [told + again.text, again.place]
      }
      const one = tell(piece(bytes.subarray(at, end), at))
      if (one !== undefined) [told, place] = [told + one.text, one.place]
      at = end
    }
    expect(told).toBe(text)
  }
})

test('a new attempt begins at its beginning, and what an older one still says is left out', () => {
  const tell = outputViews(positionIn('1.100.0'), 'utf8')
  expect(tell(piece(Buffer.from('old'), 0, 1))).toBeUndefined()
  expect(tell(piece(Buffer.from('new'), 0, 2))).toMatchObject({
    text: 'new',
    place: { attempt: 2, stdout: 3, stderr: 0 },
  })
  expect(tell(piece(Buffer.from('late'), 50, 1))).toBeUndefined()
})

test('a worker that does not count is believed to lose nothing', () => {
  const tell = outputViews(START, 'utf8')
  expect(tell(piece(Buffer.from('ab')))?.place.stdout).toBe(2)
  expect(tell(piece(Buffer.from('cd')))?.place.stdout).toBe(4)
})

test.each([
  ['', 0],
  ['61', 0],
  ['c3', 1],
  ['61c3', 1],
  ['e6bc', 2],
  ['f09f98', 3],
  ['f09f9880', 0],
  ['ff', 0],
  ['80808080', 0],
])('the bytes %s end with %i of a character', (hex, count) => {
  expect(brokenTail(Buffer.from(hex, 'hex'))).toBe(count)
})

test.each(['', '1', '1.2', '1.2.3.4', '-1.0.0', 'a.b.c', '1.2.99999999999999999999', '1.1.1\n'])(
  '%j is no place, and so the beginning',
  (word) => {
    expect(positionIn(word)).toEqual({ attempt: 0, stdout: 0, stderr: 0 })
  },
)
