import type { GridFigures, TaskView, WorkerInView } from '../../model/grid-view.ts'
import { clippedText, quietText } from '../output/table.ts'
import { tasksTable } from './task-text.ts'

/** The state of a grid at one moment. */
export interface GridMoment {
  readonly figures: GridFigures
  /** The previous state, for rates; undefined at first. */
  readonly before: GridFigures | undefined
  /** The running ones. */
  readonly tasks: readonly TaskView[]
  readonly workers: readonly WorkerInView[]
  readonly server: string
}

export interface FrameSize {
  readonly columns: number
  readonly rows: number
}

const BAR = 20
const MOST_QUEUES = 5
const NONE = '-'

/** One frame of the grid, within this width and height. */
export function topFrame(moment: GridMoment, { columns, rows }: FrameSize): string[] {
  const { figures, tasks, workers } = moment
  const running = tasks.length === 0 ? [] : ['', ...tasksTable(tasks, figures.now).trimEnd().split('\n')]
  const waiting = queueLines(figures)
  const head = headLines(moment)
  const left = Math.max(0, rows - head.length - waiting.length)
  // Workers get half of the remaining lines, more if there are few tasks.
  const seats = workerLines(workers, Math.max(Math.floor(left / 2), left - running.length))
  const lines = [...head, ...waiting, ...seats, ...running]
  return lines.slice(0, rows).map((line) => clippedText(line, columns))
}

function headLines({ figures, before, server }: GridMoment): string[] {
  const { queued, active, slots, usedSlots, accepted, ended, journalTrouble, workers } = figures
  const states = Object.entries(workers).map(([state, count]) => `${count} ${state.toLowerCase()}`)
  const filled = slots === 0 ? 0 : Math.round((BAR * Math.min(usedSlots, slots)) / slots)
  return [
    `windlass top  ${quietText(server)}  ${new Date(figures.now).toISOString().slice(11, 19)} UTC`,
    `tasks    ${queued} queued, ${active} active${statesText(figures)}`,
    `slots    ${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${usedSlots} of ${slots} in use`,
    `workers  ${states.length === 0 ? 'none' : states.join(', ')}`,
    `rates    ${rate(figures, before, 'accepted')} in, ${rate(figures, before, 'ended')} out a second; ` +
      `${accepted} in, ${ended} out since the start`,
    ...(journalTrouble === '' ? [] : [`journal  takes nothing at present: ${quietText(journalTrouble)}`]),
  ]
}

function statesText({ tasks }: GridFigures): string {
  const { retrying = 0, stopping = 0, running = 0 } = tasks
  const parts = [
    [running, 'running'],
    [stopping, 'stopping'],
    [retrying, 'to be tried again'],
  ]
  const some = parts.filter(([count]) => count !== 0).map(([count, word]) => `${count} ${word}`)
  return some.length === 0 ? '' : ` (${some.join(', ')})`
}

function rate(now: GridFigures, before: GridFigures | undefined, of: 'accepted' | 'ended'): string {
  if (before === undefined || now.now <= before.now || now[of] < before[of]) return NONE
  const perSecond = ((now[of] - before[of]) * 1000) / (now.now - before.now)
  return perSecond >= 9.95 ? perSecond.toFixed(0) : perSecond.toFixed(1)
}

function queueLines({ queues }: GridFigures): string[] {
  const waiting = queues.filter(({ queued }) => queued > 0)
  if (waiting.length === 0) return []
  const lines = waiting
    .slice(0, MOST_QUEUES)
    .map(({ asksFor, queued, active }) => `${count(queued)}${count(active)}${quietText(asksFor) || 'anything'}`)
  return ['', `${'QUEUED'.padEnd(8)}${'ACTIVE'.padEnd(8)}ASKS FOR`, ...lines]
}

const count = (number: number): string => String(number).padEnd(8)

function workerLines(workers: readonly WorkerInView[], most: number): string[] {
  if (workers.length === 0) return ['', 'no workers: "windlass worker daemon" starts one']
  const busiest = workers.toSorted((one, other) => other.tasks - one.tasks || (one.worker < other.worker ? -1 : 1))
  const shown = busiest.slice(0, Math.max(1, most - 3))
  const width = Math.max(6, ...shown.map(({ worker }) => worker.length))
  const rest = workers.length - shown.length
  return [
    '',
    `${'WORKER'.padEnd(width)}  ${'STATE'.padEnd(11)}  TASKS`,
    ...shown.map(
      ({ worker, state, tasks, slots }) => `${quietText(worker).padEnd(width)}  ${state.padEnd(11)}  ${tasks}/${slots}`,
    ),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ]
}
