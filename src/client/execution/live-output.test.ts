import { expect, test } from 'vitest'
import { LiveOutput } from './live-output.ts'

function watched() {
  const shown: string[] = []
  let isOpen = true
  const output = new LiveOutput({
    write: async (stream, bytes) => {
      shown.push(`${stream === 'stdout' ? '' : '!'}${Buffer.from(bytes)}`)
      return isOpen
    },
    differs: (stream) => void shown.push(`(${stream} differs)`),
  })
  const say = (text: string, { missed = 0, attempt = 1, stream = 'stdout' as 'stdout' | 'stderr' } = {}) =>
    output.live({ stream, attempt, missed, bytes: Buffer.from(text) })
  const end = (text: string, stream: 'stdout' | 'stderr' = 'stdout', pieceLength = 3) =>
    output.finish(stream, async function* () {
      for (let at = 0; at < text.length; at += pieceLength) yield Buffer.from(text.slice(at, at + pieceLength))
    })
  return {
    output,
    shown: () => shown.splice(0).join(''),
    say,
    end,
    close() {
      isOpen = false
    },
  }
}

test('live output is shown in order, and at the end only the rest of the result', async () => {
  const { say, end, shown } = watched()
  await say('one ')
  await say('err ', { stream: 'stderr' })
  await say('two ')
  expect(shown()).toBe('one !err two ')
  await end('one two three', 'stdout', 100)
  await end('err or', 'stderr', 100)
  expect(shown()).toBe('three!or')
})

test.each([1, 2, 3, 5, 100])(
  'the rest is shown once when the result arrives in pieces of %i bytes',
  async (pieceLength) => {
    const { say, end, shown } = watched()
    await say('one two ')
    shown()
    await end('one two three', 'stdout', pieceLength)
    expect(shown()).toBe('three')
  },
)

test('a restarted live stream repeats nothing', async () => {
  const { output, say, end, shown } = watched()
  await say('one ')
  await say('two ')
  output.restart()
  await say('one ')
  await say('two three ')
  await say('four')
  expect(shown()).toBe('one two three four')
  await end('one two three four')
  expect(shown()).toBe('')
})

test('after a gap live output stops, and the missing part is shown from the result', async () => {
  const { output, say, end, shown } = watched()
  await say('one ')
  await say('three ', { missed: 4 })
  await say('four')
  expect(shown()).toBe('one ')
  output.restart()
  await say('four', { missed: 14 })
  await end('one two three four')
  expect(shown()).toBe('two three four')
})

test('a live stream that begins late shows nothing until the result', async () => {
  const { say, end, shown } = watched()
  await say('late', { missed: 1000 })
  await end('early and late')
  expect(shown()).toBe('early and late')
})

test('a second attempt with the same output continues where the first stopped', async () => {
  const { say, end, shown } = watched()
  await say('one ')
  await say('one ', { attempt: 2 })
  await say('two', { attempt: 2 })
  await end('one two')
  expect(shown()).toBe('one two')
})

test('a second attempt with different output is shown whole, with a notice', async () => {
  const { say, end, shown } = watched()
  await say('pid 17 ')
  await say('pid 18 ', { attempt: 2 })
  await end('pid 18 done')
  expect(shown()).toBe('pid 17 (stdout differs)pid 18 done')
})

test('a second attempt is shown live when the first printed nothing', async () => {
  const { say, end, shown } = watched()
  await say('', { attempt: 1 })
  await say('pid 18 ', { attempt: 2 })
  expect(shown()).toBe('pid 18 ')
  await end('pid 18 done')
  expect(shown()).toBe('done')
})

test('a result shorter than the output of a lost attempt is shown whole, with a notice', async () => {
  const { say, end, shown } = watched()
  await say('a long tale')
  await say('no', { attempt: 2 })
  await end('no')
  expect(shown()).toBe('a long tale(stdout differs)no')
})

test('a result shorter than the live output of the same attempt adds nothing', async () => {
  const { say, end, shown } = watched()
  await say('very much output')
  shown()
  await end('very…put')
  expect(shown()).toBe('')
})

test('nothing more is written after the writer was closed', async () => {
  const { output, say, end, shown, close } = watched()
  close()
  await say('one')
  await say('two')
  await end('onetwothree')
  expect(shown()).toBe('one')
  expect(output.isLeft).toBe(true)
})
