import { type Program, type TaskJson, why } from './code-api.ts'
import { element } from './element.ts'
import { endText } from './end-words.ts'
import { everyFew } from './frames.ts'
import { outputView } from './output-view.ts'
import { runOutput } from './run-output.ts'
import { startRun, type TaskRun } from './task-run.ts'

const WORDS: Readonly<Record<string, string>> = {
  pending: 'Waiting for a worker …',
  submitted: 'Waiting for a worker …',
  executing: 'Running …',
  retrying: 'The worker was lost: trying again …',
}
/** After this wait the page shows the reason. */
const PATIENCE_MS = 2000

export interface RunControls {
  /** Does nothing while a program runs. */
  run(): void
}

/** The buttons, the status line and the output. `program` returns undefined when there is nothing to run. */
export function runControls(program: () => Program | undefined): RunControls {
  const runButton = element('run', HTMLButtonElement)
  const stopButton = element('stop', HTMLButtonElement)
  const say = statusLine(element('status', HTMLElement))
  const view = outputView(element('output', HTMLElement))
  let current: TaskRun | undefined
  let stopAsking = (): void => {}

  const show = (): void => {
    // Not `disabled`, which would take the focus from the button that was pressed.
    runButton.setAttribute('aria-disabled', String(current !== undefined))
    stopButton.setAttribute('aria-disabled', String(current === undefined))
  }
  const over = (text: string, isBad: boolean): void => {
    stopAsking()
    current = undefined
    say(text, isBad)
    show()
  }
  const changed = ({ status }: Pick<TaskJson, 'status'>): void => {
    stopAsking()
    say(WORDS[status] ?? status)
    if (status !== 'executing') stopAsking = tellingWhy(() => current?.id(), say)
  }
  const run = (): void => {
    const wanted = current === undefined ? program() : undefined
    if (wanted === undefined) return
    const output = runOutput(view)
    changed({ status: 'pending' })
    current = startRun(wanted, {
      changed,
      printed: output.printed,
      ended(task) {
        output.ended(task)
        const { text, isBad } = endText(task)
        over(text, isBad)
      },
      failed: (message) => over(message, true),
    })
    show()
  }
  runButton.addEventListener('click', run)
  stopButton.addEventListener('click', () => current?.stop())
  addEventListener('pagehide', () => current?.leave())
  show()
  return { run }
}

const statusLine =
  (place: HTMLElement) =>
  (text: string, isBad = false): void => {
    place.classList.toggle('bad', isBad)
    place.textContent = text
  }

function tellingWhy(id: () => string | undefined, say: (text: string) => void): () => void {
  let isOver = false
  const stop = everyFew(PATIENCE_MS, async () => {
    const task = id()
    const reasons = task === undefined ? [] : await why(task).catch(() => [])
    if (!isOver && reasons[0] !== undefined) say(`Waiting: ${reasons[0]}`)
  })
  return () => {
    isOver = true
    stop()
  }
}
