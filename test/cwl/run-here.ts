import { EventEmitter } from 'node:events'
import type { Terminal } from '../../src/app/process/terminal.ts'
import { run } from '../../src/cli/program.ts'

export interface CwlEnd {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** `windlass cwl …` in this very process: the same words, the same answers, and no start-up. */
export const cwlHere = (...words: readonly string[]): Promise<CwlEnd> => startCwl(words).ended

export interface CwlSeat {
  readonly isTerminal?: boolean
  /** Hears what goes to standard error, as it comes. */
  readonly heard?: (text: string) => void
}

/** The same, with a hand on its signals. */
export function startCwl(words: readonly string[], { isTerminal = false, heard }: CwlSeat = {}) {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const signals = new EventEmitter()
  const terminal: Terminal = {
    env: process.env,
    home: '/nowhere',
    platform: 'a test',
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    signals: Object.assign(signals, { exit: () => {} }),
    self: ['windlass'],
    out: (text) => void stdout.push(text),
    err(text) {
      stderr.push(text)
      heard?.(text)
    },
  }
  const ended = run(['cwl', ...words], terminal).then(
    (exitCode): CwlEnd => ({ exitCode, stdout: stdout.join(''), stderr: stderr.join('') }),
  )
  return { signals, ended }
}
