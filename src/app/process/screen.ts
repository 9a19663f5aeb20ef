/** A full-screen terminal while it is shown; tests substitute it. */
export interface FullScreen {
  readonly columns: number
  readonly rows: number
  /** Shows it until `leave`, which restores the terminal; keys arrive one at a time, including Ctrl+C. */
  enter(listener: { key(text: string): void; resized(): void }): void
  draw(text: string): void
  leave(): void
}

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

/** The real terminal. */
export function processScreen(): FullScreen {
  const { stdin, stdout } = process
  let leave: (() => void) | undefined
  return {
    get columns() {
      return stdout.columns
    },
    get rows() {
      return stdout.rows
    },
    enter({ key, resized }) {
      const typed = (bytes: Buffer): void => key(bytes.toString())
      const isTyped = stdin.isTTY
      leave = () => {
        leave = undefined
        process.off('exit', ended)
        stdout.off('resize', resized)
        stdin.off('data', typed)
        if (isTyped) stdin.setRawMode(false).pause()
        stdout.write(LEAVE)
      }
      // Also after an error: the user's shell needs its cursor back.
      const ended = (): void => leave?.()
      process.on('exit', ended)
      stdout.on('resize', resized).write(ENTER)
      if (isTyped) stdin.setRawMode(true).on('data', typed).resume()
    },
    draw: (text) => void stdout.write(text),
    leave: () => leave?.(),
  }
}
