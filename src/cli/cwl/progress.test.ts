import { expect, test } from 'vitest'
import type { Terminal } from '../../app/process/terminal.ts'
import { cwlProgress } from './progress.ts'

function shown(isTerminal: boolean, isQuiet = false) {
  const lines: string[] = []
  const terminal = { errIsTerminal: isTerminal, err: (text: string) => void lines.push(text) } as unknown as Terminal
  return { lines, progress: cwlProgress(terminal, { isQuiet }) }
}

const bytes = (text: string): Uint8Array => Buffer.from(text)

test('a log gets the output of commands line by line, and how they ended', () => {
  const { lines, progress } = shown(false)
  progress.queued('align[0]')
  progress.started('align[0]')
  progress.printed('align[0]', bytes('one\ntw'))
  progress.printed('align[0]', bytes('o\nrest'))
  progress.ended('align[0]', true)
  expect(lines).toEqual(['[align[0]] one\n', '[align[0]] two\n', '[align[0]] rest\n', '[align[0]] done\n'])
})

test('a terminal gets the numbers of waiting, running, done and failed commands', () => {
  const { lines, progress } = shown(true)
  progress.queued('a')
  progress.queued('b')
  progress.started('a')
  expect(lines.at(-1)).toBe('\r\u001b[K1 waiting, 1 running, 0 done')
  progress.ended('a', false)
  progress.ended('b', false) // b never started
  expect(lines.at(-1)).toBe('\r\u001b[K0 done, 2 failed')
  progress.close()
  expect(lines.at(-1)).toBe('\r\u001b[K')
})

test('--quiet prints nothing when all commands succeed', () => {
  const { lines, progress } = shown(true, true)
  progress.queued('a')
  progress.started('a')
  progress.printed('a', bytes('words\n'))
  progress.noted('a', 'something')
  progress.ended('a', true)
  progress.close()
  expect(lines).toEqual([])
})

test('--quiet prints the last 20 lines of a failed command', () => {
  const { lines, progress } = shown(true, true)
  progress.queued('a')
  progress.started('a')
  progress.printed('a', bytes(`${Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n')}\nthe end`))
  progress.ended('a', false)
  expect(lines).toHaveLength(20)
  expect(lines.slice(-2)).toEqual(['[a] line 99\n', '[a] the end\n'])
})
