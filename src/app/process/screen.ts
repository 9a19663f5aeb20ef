/** A terminal that is drawn on as a whole, for as long as somebody looks; a test plays one. */
export interface FullScreen {
  readonly columns: number
  readonly rows: number
  /** Until `leave`, which gives everything back as it was; keys come one at a time, Ctrl+C among them. */
  enter(listener: { key(text: string): void; resized(): void }): void
  draw(text: string): void
  leave(): void
}

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

/** The real one. */
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
      // Also when something goes wrong: a shell without a cursor is no place to be left at.
      const ended = (): void => leave?.()
      process.on('exit', ended)
      stdout.on('resize', resized).write(ENTER)
      if (isTyped) stdin.setRawMode(true).on('data', typed).resume()
    },
    draw: (text) => void stdout.write(text),
    leave: () => leave?.(),
  }
}
