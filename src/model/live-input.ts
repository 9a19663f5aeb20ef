/** What somebody does to a program that runs: types, closes its input, changes the size of its terminal, sends a signal. */
export type InputEvent =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'resize'; readonly size: TerminalSize }
  | { readonly kind: 'signal'; readonly signal: InputSignal }

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/** Of a terminal, in either direction. More is a mistake, or means harm: programs keep a cell for each. */
export const MOST_TERMINAL_LINES = 1000

export const isTerminalSize = ({ rows, columns }: TerminalSize): boolean =>
  [rows, columns].every((lines) => Number.isInteger(lines) && lines >= 1 && lines <= MOST_TERMINAL_LINES)

/** Those that programs understand, and that do no more to them than whoever started them could. */
export const INPUT_SIGNALS = [
  ...(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const),
  ...(['SIGSTOP', 'SIGTSTP', 'SIGCONT', 'SIGWINCH'] as const),
] as const
export type InputSignal = (typeof INPUT_SIGNALS)[number]

/** The property, with the value `yes`, of workers that hand on what is done to a program while it runs. */
export const INTERACTIVE_PROPERTY = 'interactive'
