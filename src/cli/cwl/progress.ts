import type { Terminal } from '../../app/process/terminal.ts'
import type { RunWatch } from '../../cwl-runner/machine.ts'
import { commandLines } from './lines.ts'

/** Shows a run on standard error: a status line on a terminal, one line per finished step in a log. */
export interface CwlProgress extends RunWatch {
  /** The number of uploaded bytes. */
  sent(bytes: number): void
  /** Clears the line. */
  close(): void
}

const CLEAR_LINE = '\r\u001b[K'
/** The output of a failed command, in quiet mode. */
const LAST_WORDS = 20

export function cwlProgress(terminal: Terminal, { isQuiet }: { readonly isQuiet: boolean }): CwlProgress {
  return isQuiet ? quietProgress(terminal) : shownProgress(terminal)
}

const lineOf = (path: string, words: string): string => `${path === '' ? '' : `[${path}] `}${printable(words)}\n`

function shownProgress(terminal: Terminal): CwlProgress {
  const isLive = terminal.errIsTerminal
  const counts = { waiting: 0, running: 0, done: 0, cached: 0, failed: 0 }
  const running = new Set<string>()
  const lines = commandLines()
  let sentBytes = 0
  const draw = (): void => {
    if (!isLive) return
    const parts = Object.entries(counts).filter(([name, count]) => count > 0 || name === 'done')
    terminal.err(`${CLEAR_LINE}${parts.map(([name, count]) => `${count} ${name}`).join(', ')}`)
  }
  const printLine = (path: string, words: string): void => {
    terminal.err(`${isLive ? CLEAR_LINE : ''}${lineOf(path, words)}`)
    draw()
  }
  return {
    queued() {
      counts.waiting += 1
      draw()
    },
    started(path) {
      counts.waiting -= 1
      counts.running += 1
      running.add(path)
      draw()
    },
    ended(path, isDone, isCached = false) {
      if (running.delete(path)) counts.running -= 1
      else counts.waiting -= 1
      counts[isDone ? 'done' : 'failed'] += 1
      if (isCached) counts.cached += 1
      for (const line of lines.end(path)) printLine(path, line)
      if (isLive) draw()
      else printLine(path, isDone ? (isCached ? 'done before' : 'done') : 'failed')
    },
    printed(path, bytes) {
      for (const line of lines.add(path, bytes)) printLine(path, line)
    },
    noted: printLine,
    sent(bytes) {
      sentBytes += bytes
      if (isLive) terminal.err(`${CLEAR_LINE}${(sentBytes / 1e6).toFixed(1)} MB of inputs sent`)
    },
    close() {
      if (isLive) terminal.err(CLEAR_LINE)
    },
  }
}

/** Keeps the output of commands until they end: only that of a failed one is shown. */
function quietProgress(terminal: Terminal): CwlProgress {
  const lines = commandLines()
  const last = new Map<string, readonly string[]>()
  const keep = (path: string, more: readonly string[]): void => {
    if (more.length > 0) last.set(path, [...(last.get(path) ?? []), ...more].slice(-LAST_WORDS))
  }
  return {
    queued() {},
    started() {},
    ended(path, isDone) {
      keep(path, lines.end(path))
      if (!isDone) for (const line of last.get(path) ?? []) terminal.err(lineOf(path, line))
      last.delete(path)
    },
    printed: (path, bytes) => keep(path, lines.add(path, bytes)),
    noted() {},
    sent() {},
    close() {},
  }
}

/** Removes control sequences: output must not move the cursor or change other parts of the terminal. */
const printable = (line: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  line.replace(/\r$/, '').replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, '\ufffd')
