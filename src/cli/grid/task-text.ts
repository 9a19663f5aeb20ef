import type { TaskView } from '../../model/grid-view.ts'
import { clippedText, commandText, quietText, spanText, tableText } from '../output/table.ts'

/** The outcome in one word and a one-line description. */
const stateText = ({ state, exitCode, cached }: TaskView): string => {
  if (state !== 'completed') return state
  const ended = exitCode === undefined || exitCode === 0 ? state : `exit ${exitCode}`
  return cached ? `${ended}, cached` : ended
}

const aboutText = ({ command, origin, actionDigest }: TaskView): string =>
  command.length > 0 ? commandText(command) : `${origin} ${actionDigest ?? ''}`.trim()

/** The duration of its last attempt. */
const ranText = ({ startedAt, endedAt }: TaskView, now: number): string =>
  startedAt === undefined ? '-' : spanText((endedAt ?? now) - startedAt)

/** The limit for a command in a table; `windlass task` shows more. */
const MOST_CELLS = 80

const HEAD = ['TASK', 'STATE', 'AGE', 'RAN', 'WORKER', 'INSTANCE', 'COMMAND']

export const tasksTable = (tasks: readonly TaskView[], now: number): string =>
  tableText(
    HEAD,
    tasks.map((task) => [
      task.task,
      stateText(task),
      spanText(now - task.acceptedAt),
      ranText(task, now),
      task.worker ?? '-',
      task.instance || '-',
      clippedText(quietText(aboutText(task)), MOST_CELLS),
    ]),
  )

/** All details of one task, one per line. */
export function taskText(task: TaskView, reasons: readonly string[], now: number): string {
  const at = (time: number | undefined): string =>
    time === undefined ? '-' : `${new Date(time).toISOString()}, ${spanText(now - time)} ago`
  const rows = [
    ['task', task.task],
    ['operation', task.operation],
    ['instance', task.instance || '-'],
    ['state', stateText(task)],
    ['command', aboutText(task)],
    ['action', task.actionDigest ?? '-'],
    ['worker', task.worker ?? '-'],
    ['attempts', String(task.attempt)],
    ['accepted', at(task.acceptedAt)],
    ['started', at(task.startedAt)],
    ['ended', at(task.endedAt)],
    ...reasons.map((reason, index) => [index === 0 ? 'why' : '', reason]),
  ]
  // Here the first row is an ordinary row, not a header.
  const [first = [], ...rest] = rows
  return tableText(first, rest)
}
