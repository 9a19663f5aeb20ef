import { EventEmitter } from 'node:events'
import type { Terminal } from '../../src/app/process/terminal.ts'
import { run } from '../../src/cli/program.ts'

export interface CwlEnd {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `windlass cwl …` in this process: the same arguments and output, without the start-up time. */
export const cwlHere = (...words: readonly string[]): Promise<CwlEnd> => startCwl(words).ended

export interface CwlSeat {
  readonly isTerminal?: boolean
  /** Receives the text of stderr as it is written. */
  readonly heard?: (text: string) => void
}

/** Starts the same, and exposes its signals. */
export function startCwl(words: readonly string[], { isTerminal = false, heard: received }: CwlSeat = {}) {
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
      received?.(text)
    },
  }
  const ended = run(['cwl', ...words], terminal).then(
    (exitCode): CwlEnd => ({ exitCode, stdout: stdout.join(''), stderr: stderr.join('') }),
  )
  return { signals, ended }
}
