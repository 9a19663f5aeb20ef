import type { GridFigures, PrintedPiece, TaskPage, TaskQuery, TaskView, WorkerInView } from '../../model/grid-view.ts'
import * as tasks from '../../wire/admin/grid.ts'
import { gridFiguresFromProto, watchGridToProto } from '../../wire/admin/grid-figures.ts'
import * as workers from '../../wire/admin/grid-workers.ts'
import type { Rpc, RpcClient } from '../connection/rpc.ts'
import { fromServer } from '../connection/server-fault.ts'

const SERVICE = '/windlass.grid.v1.GridAdmin'
const CALL_MS = 60_000

const rpc = <Request, Response>(
  method: string,
  encode: (request: Request) => Uint8Array,
  decode: (bytes: Uint8Array) => Response,
): Rpc<Request, Response> => ({ path: `${SERVICE}/${method}`, encode, decode: fromServer(decode) })

const RPCS = {
  list: rpc('ListTasks', tasks.taskQueryToProto, tasks.taskPageFromProto),
  get: rpc('GetTask', tasks.taskNameToProto, tasks.taskFromProto),
  why: rpc('ExplainTask', tasks.taskNameToProto, tasks.reasonsFromProto),
  cancel: rpc('CancelTask', tasks.taskNameToProto, tasks.taskFromProto),
  follow: rpc('FollowOutput', tasks.followToProto, tasks.printedFromProto),
  workers: rpc('ListWorkers', workers.workersRequestToProto, workers.workersFromProto),
  drain: rpc('DrainWorker', workers.drainToProto, workers.doneFromProto),
  resume: rpc('ResumeWorker', workers.resumeToProto, workers.doneFromProto),
  watch: rpc('WatchGrid', watchGridToProto, gridFiguresFromProto),
}

/** The grid of a Windlass server, for operators. A task can be given by any name that the server finds it by. */
export interface GridClient {
  tasks(query: TaskQuery): Promise<TaskPage>
  task(name: string): Promise<TaskView>
  /** Sentences that explain what the task waits for, or how it ended. */
  why(name: string): Promise<readonly string[]>
  /** Cancels the task for all clients that wait for it; returns the tasks that were found. */
  cancel(name: string): Promise<TaskView>
  /** Output while the task runs, until it ends; or only the output that is kept now. */
  follow(request: tasks.FollowRequest): AsyncIterable<PrintedPiece>
  workers(): Promise<readonly WorkerInView[]>
  drain(worker: string, shutdown: boolean): Promise<void>
  resume(worker: string): Promise<void>
  /** Figures at once, and then every so often. */
  watch(intervalMs: number): AsyncIterable<GridFigures>
}

export function gridClient(rpcs: RpcClient, signal: AbortSignal): GridClient {
  const unary = { signal, timeoutMs: CALL_MS }
  return {
    tasks: (query) => rpcs.unary(RPCS.list, query, unary),
    task: (name) => rpcs.unary(RPCS.get, name, unary),
    why: (name) => rpcs.unary(RPCS.why, name, unary),
    cancel: (name) => rpcs.unary(RPCS.cancel, name, unary),
    follow: (request) => rpcs.stream(RPCS.follow, request, { signal }),
    workers: () => rpcs.unary(RPCS.workers, undefined, unary),
    drain: (worker, shutdown) => rpcs.unary(RPCS.drain, { worker, shutdown }, unary),
    resume: (worker) => rpcs.unary(RPCS.resume, worker, unary),
    watch: (intervalMs) => rpcs.stream(RPCS.watch, intervalMs, { signal }),
  }
}
