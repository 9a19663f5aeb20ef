import type { LaunchSpec } from './launcher.ts'
import type { Pipe, PipePool } from './pipe-pool.ts'

/** That one who does not listen may leave unread. */
const MOST_UNREAD = 4096

/** The way to who sees to the terminal of a process. */
export interface TerminalLine {
  readonly pipes: readonly Pipe[]
  /** What the process finds as its last descriptor; nothing when it makes no terminal. */
  readonly stdio: readonly (number | 'ignore')[]
  /** Lost where there is no terminal, or nobody who listens. */
  tell(line: string): void
}

export function terminalLine({ hasTerminal = false }: LaunchSpec, pool: PipePool): TerminalLine {
  if (!hasTerminal) return { pipes: [], stdio: [], tell() {} }
  if (!pool.isAvailable) return { pipes: [], stdio: ['ignore'], tell() {} }
  const pipe = pool.forInput()
  const { ours } = pipe
  ours.on('error', () => {}) // the process has closed its end: nobody minds
  return {
    pipes: [pipe],
    stdio: [pipe.theirs],
    tell(line) {
      if (ours.writable && ours.writableLength < MOST_UNREAD) ours.write(line)
    },
  }
}
