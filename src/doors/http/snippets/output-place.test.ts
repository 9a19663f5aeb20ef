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

test(`the text is complete, however the output is cut and wherever a reader resumes (seed ${seed})`, () => {
  const random = randomFrom(seed)
  const text = 'aé漢😀\n'.repeat(20)
  const bytes = Buffer.from(text)
  for (let round = 0; round < 100; round++) {
    let received = ''
    let place = START
    let viewOf = outputViews(START, 'utf8')
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + 1 + random.below(7))
      if (random.chance(0.2)) {
        // The connection is lost: output is sent from the beginning again.
        viewOf = outputViews(positionIn(positionText(place)), 'utf8')
        const again = viewOf(piece(bytes.subarray(0, at), 0))
        if (again !== undefined) [received, place] = [received + again.text, again.place]
      }
      const one = viewOf(piece(bytes.subarray(at, end), at))
      if (one !== undefined) [received, place] = [received + one.text, one.place]
      at = end
    }
    expect(received).toBe(text)
  }
})

test('a new attempt starts at position 0, and output of an older attempt is dropped', () => {
  const viewOf = outputViews(positionIn('1.100.0'), 'utf8')
  expect(viewOf(piece(Buffer.from('old'), 0, 1))).toBeUndefined()
  expect(viewOf(piece(Buffer.from('new'), 0, 2))).toMatchObject({
    text: 'new',
    place: { attempt: 2, stdout: 3, stderr: 0 },
  })
  expect(viewOf(piece(Buffer.from('late'), 50, 1))).toBeUndefined()
})

test('pieces without a position are taken as contiguous', () => {
  const viewOf = outputViews(START, 'utf8')
  expect(viewOf(piece(Buffer.from('ab')))?.place.stdout).toBe(2)
  expect(viewOf(piece(Buffer.from('cd')))?.place.stdout).toBe(4)
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
])('the bytes %s end with %i bytes of an incomplete character', (hex, count) => {
  expect(brokenTail(Buffer.from(hex, 'hex'))).toBe(count)
})

test.each(['', '1', '1.2', '1.2.3.4', '-1.0.0', 'a.b.c', '1.2.99999999999999999999', '1.1.1\n'])(
  '%j is no position, and counts as the beginning',
  (word) => {
    expect(positionIn(word)).toEqual({ attempt: 0, stdout: 0, stderr: 0 })
  },
)
