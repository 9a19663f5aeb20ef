import type { LaunchSpec } from './launcher.ts'
import type { Pipe, PipePool } from './pipe-pool.ts'

/** The maximum number of unread bytes. */
const MOST_UNREAD = 4096

/** Sends terminal sizes to the program that made the terminal. */
export interface TerminalLine {
  readonly pipes: readonly Pipe[]
  /** The process's last descriptor; empty when it makes no terminal. */
  readonly stdio: readonly (number | 'ignore')[]
  /** Does nothing when there is no terminal or no reader. */
  tell(line: string): void
}

export function terminalLine({ hasTerminal = false }: LaunchSpec, pool: PipePool): TerminalLine {
  if (!hasTerminal) return { pipes: [], stdio: [], tell() {} }
  if (!pool.isAvailable) return { pipes: [], stdio: ['ignore'], tell() {} }
  const pipe = pool.forInput()
  const { ours } = pipe
  ours.on('error', () => {}) // the process has closed its end
  return {
    pipes: [pipe],
    stdio: [pipe.theirs],
    tell(line) {
      if (ours.writable && ours.writableLength < MOST_UNREAD) ours.write(line)
    },
  }
}
