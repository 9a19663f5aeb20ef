import { pause, systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { invalid } from '../../base/fault.ts'
import type { GridClient } from '../../client/execution/grid-client.ts'
import type { TaskView } from '../../model/grid-view.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { TASK_STATES, type TaskState } from '../../model/task-state.ts'
import type { GridOptions } from '../session/grid-flags.ts'
import { jsonLine, withGrid } from '../session/grid-session.ts'
import { tasksTable } from './task-text.ts'

export interface TasksOptions extends GridOptions {
  readonly state?: readonly string[]
  readonly instance?: string
  readonly limit: string
  readonly watch?: true
}

const MOST = 10_000
const PAGE = 100
/** A page may be empty although more follow; the search is limited. */
const MOST_PAGES = 200
const WATCH_MS = 1_000
const TO_TOP = '\u001b[H\u001b[J'

export async function runTasks(options: TasksOptions, terminal: Terminal): Promise<void> {
  const query = {
    states: statesOf(options.state),
    instance: instanceOf(options.instance),
    limit: limitOf(options.limit),
  }
  await withGrid(options, terminal, async ({ grid, signal }) => {
    do {
      const tasks = await listTasks(grid, query)
      const text = options.json ? jsonLine({ tasks }) : tasksText(tasks, options)
      terminal.out(options.watch && terminal.outIsTerminal && !options.json ? TO_TOP + text : text)
      if (options.watch) await untilOrAborted(pause(WATCH_MS), signal)
    } while (options.watch && !signal.aborted)
  })
}

function tasksText(tasks: readonly TaskView[], { state, instance }: TasksOptions): string {
  if (tasks.length > 0) return tasksTable(tasks, systemClock.now())
  return state === undefined && instance === undefined
    ? 'no tasks yet; "windlass run -- echo hello" makes one\n'
    : 'no such tasks\n'
}

export interface TaskListOptions {
  readonly states: readonly TaskState[]
  readonly instance: string | undefined
  readonly limit: number
}

export async function listTasks(grid: GridClient, { states, instance, limit }: TaskListOptions): Promise<TaskView[]> {
  const tasks: TaskView[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const found = await grid.tasks({ states, instance, limit: Math.min(PAGE, limit - tasks.length), cursor })
    tasks.push(...found.tasks)
    cursor = found.next
    if (cursor === undefined || tasks.length >= limit) break
  }
  return tasks.slice(0, limit)
}

const statesOf = (given: readonly string[] = []): TaskState[] =>
  given
    .flatMap((text) => text.split(','))
    .map((text) => {
      const state = TASK_STATES.find((one) => one === text)
      if (state === undefined) throw invalid(`--state: ${text} is none of ${TASK_STATES.join(', ')}`)
      return state
    })

function instanceOf(name: string | undefined): string | undefined {
  const problem = name === undefined ? undefined : instanceNameProblem(name)
  if (problem !== undefined) throw invalid(`--instance: the name ${problem}`)
  return name
}

function limitOf(text: string): number {
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(limit <= MOST)) throw invalid(`--limit: ${text} is not a number from 1 to ${MOST}`)
  return limit
}

async function untilOrAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  const left = Promise.withResolvers<void>()
  const leave = (): void => left.resolve()
  if (signal.aborted) return
  signal.addEventListener('abort', leave)
  await Promise.race([wait, left.promise])
  signal.removeEventListener('abort', leave)
}
