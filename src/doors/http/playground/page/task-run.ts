import {
  ApiError,
  cancelTask,
  eventsOf,
  fetchTask,
  type OutputJson,
  type Program,
  submitProgram,
  type TaskJson,
} from './code-api.ts'

export interface RunListener {
  changed(task: TaskJson): void
  printed(output: OutputJson): void
  /** Called once, as the last call. */
  ended(task: TaskJson): void
  /** Called instead of `ended` when the end of the task is unknown. */
  failed(message: string): void
}

export interface TaskRun {
  /** Undefined until the server has accepted the task. */
  id(): string | undefined
  stop(): void
  /** The page is closed: the task is cancelled. */
  leave(): void
}

const FINAL = new Set(['completed', 'failed', 'timeout', 'cancelled'])

/** Runs a program and reports its progress. After a lost connection it resumes the stream where it broke off. */
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
      listener.failed(error instanceof ApiError ? error.message : `Something is wrong with this page: ${error}`),
    )
  const end = (task: TaskJson): void => over(() => listener.ended(task))

  const follow = (task: string): void => {
    source = new EventSource(eventsOf(task))
    source.addEventListener('state', ({ data }) => listener.changed(JSON.parse(data)))
    source.addEventListener('output', ({ data }) => listener.printed(JSON.parse(data)))
    source.addEventListener('end', ({ data }) => end(JSON.parse(data)))
    source.addEventListener('error', () => {
      // The browser reconnects by itself, unless the response is not an event stream.
      if (source?.readyState === EventSource.CLOSED) fetchTask(task).then(endOrFail, fail)
    })
  }
  const endOrFail = (task: TaskJson): void =>
    FINAL.has(task.status) ? end(task) : fail(new ApiError('The connection to the server was lost.', 0))

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
