import { fstatSync } from 'node:fs'
import { homedir } from 'node:os'
import type { SignalSource } from './shutdown.ts'

/** The process as a command sees it; tests substitute it. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** `Node 24.21.0, linux x64`: for bug reports. */
  readonly platform: string
  /** Whether standard output, and standard error, is a terminal. */
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** Whether standard input is a pipe or a file, and should be read; false for a terminal and for /dev/null. */
  readonly inIsPiped?: boolean
  readonly signals: SignalSource
  /** How this program was started, without the command's arguments. */
  readonly self: readonly [program: string, ...words: string[]]
  out(text: string): void
  err(text: string): void
}

/** The real process, with the arguments of the command line. */
export function processTerminal(): Terminal & { readonly argv: readonly string[]; exitWith(code: number): void } {
  // `windlass config --explain | head` closes the pipe during the write, which is not an error.
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

/** Flushes pending output, and ends the process even if a forgotten handle is open. */
function leave(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(), 1_000).unref()
}
