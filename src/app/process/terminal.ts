import { fstatSync } from 'node:fs'
import { homedir } from 'node:os'
import type { SignalSource } from './shutdown.ts'

/** All that a command sees of the process it runs in; a test plays one. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** `Node 24.21.0, linux x64`: for bug reports. */
  readonly platform: string
  /** Whether a person reads standard output, and standard error. */
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** Whether standard input is a pipe or a file, and so meant to be read; false for a terminal and for /dev/null. */
  readonly inIsPiped?: boolean
  readonly signals: SignalSource
  /** How this program was started, without the words of its command line. */
  readonly self: readonly [program: string, ...words: string[]]
  out(text: string): void
  err(text: string): void
}

/** The real one, with the words of the command line. */
export function processTerminal(): Terminal & { readonly argv: readonly string[]; exitWith(code: number): void } {
  // `windlass config --explain | head` closes the pipe while we write: no error of ours.
  process.stdout.on('error', () => process.exit())
  return {
    argv: process.argv.slice(2),
    env: process.env,
    home: homedir(),
    platform: `Node ${process.versions.node}, ${process.platform} ${process.arch}`,
    outIsTerminal: process.stdout.isTTY,
    errIsTerminal: process.stderr.isTTY,
    inIsPiped: inIsPiped(),
    signals: process,
    self: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    exitWith: leave,
  }
}

function inIsPiped(): boolean {
  try {
    const stats = fstatSync(0)
    return stats.isFIFO() || stats.isFile() || stats.isSocket()
  } catch {
    return false // closed
  }
}

/** Lets what is still being written get out, and makes sure that nothing forgotten keeps the process. */
function leave(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(), 1_000).unref()
}
