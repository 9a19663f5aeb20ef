/** Interactive input to a running program: text, end of input, a new terminal size, a signal. */
export type InputEvent =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'resize'; readonly size: TerminalSize }
  | { readonly kind: 'signal'; readonly signal: InputSignal }

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/** Rows and columns of a terminal. Programs allocate a cell for each, so larger values are rejected. */
export const MOST_TERMINAL_LINES = 1000

export const isTerminalSize = ({ rows, columns }: TerminalSize): boolean =>
  [rows, columns].every((lines) => Number.isInteger(lines) && lines >= 1 && lines <= MOST_TERMINAL_LINES)

/** Signals that programs can handle and that their own user could send. */
export const INPUT_SIGNALS = [
  ...(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const),
  ...(['SIGSTOP', 'SIGTSTP', 'SIGCONT', 'SIGWINCH'] as const),
] as const
export type InputSignal = (typeof INPUT_SIGNALS)[number]

/** The property, with the value `yes`, of workers that hand on what is done to a program while it runs. */
export const INTERACTIVE_PROPERTY = 'interactive'
