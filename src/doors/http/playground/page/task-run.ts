import {
  cancelTask,
  eventsOf,
  fetchTask,
  type OutputJson,
  type Program,
  Refusal,
  submitProgram,
  type TaskJson,
} from './code-api.ts'

export interface RunListener {
  changed(task: TaskJson): void
  printed(output: OutputJson): void
  /** Once, and nothing after it. */
  ended(task: TaskJson): void
  /** Instead of the end: what happened to it is not known. */
  failed(message: string): void
}

export interface TaskRun {
  /** Undefined until the server has it. */
  id(): string | undefined
  stop(): void
  /** The page is closed: the task is cancelled. */
  leave(): void
}

const FINAL = new Set(['completed', 'failed', 'timeout', 'cancelled'])

/** Runs a program and tells of it; a connection that is lost is taken up again where it was. */
export function startRun(program: Program, listener: RunListener): TaskRun {
  let id: string | undefined
  let isStopped = false
  let isOver = false
  let source: EventSource | undefined

  const over = (tell: () => void): void => {
    if (isOver) return
    isOver = true
    source?.close()
    tell()
  }
  const fail = (error: unknown): void =>
    over(() =>
      listener.failed(error instanceof Refusal ? error.message : `Something is wrong with this page: ${error}`),
    )
  const end = (task: TaskJson): void => over(() => listener.ended(task))

  const follow = (task: string): void => {
    source = new EventSource(eventsOf(task))
    source.addEventListener('state', ({ data }) => listener.changed(JSON.parse(data)))
    source.addEventListener('output', ({ data }) => listener.printed(JSON.parse(data)))
    source.addEventListener('end', ({ data }) => end(JSON.parse(data)))
    source.addEventListener('error', () => {
      // The browser comes back by itself, unless it was told not to: by an answer that is no stream.
      if (source?.readyState === EventSource.CLOSED) fetchTask(task).then(endOrFail, fail)
    })
  }
  const endOrFail = (task: TaskJson): void =>
    FINAL.has(task.status) ? end(task) : fail(new Refusal('The connection to the server was lost.', 0))

  submitProgram(program).then((task) => {
    id = task
    follow(task)
    if (isStopped) cancelTask(task).catch(fail)
  }, fail)
  return {
    id: () => id,
    stop() {
      if (isStopped || isOver) return
      isStopped = true
      if (id !== undefined) cancelTask(id).catch(fail)
    },
    leave() {
      if (id !== undefined && !isOver) cancelTask(id, { keepalive: true }).catch(() => {})
    },
  }
}
