import { FaultError } from '../../../base/fault.ts'
import type { WorkerView } from '../../../engine/workers/worker-session.ts'
import type { Service, UnaryMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { TaskView, WorkerInView } from '../../../model/grid-view.ts'
import {
  reasonsToProto,
  taskNameFromProto,
  taskPageToProto,
  taskQueryFromProto,
  taskToProto,
} from '../../../wire/admin/grid.ts'
import {
  drainFromProto,
  resumeFromProto,
  workersRequestFromProto,
  workersToProto,
} from '../../../wire/admin/grid-workers.ts'
import { reportingFaults } from '../report-faults.ts'
import { findTask } from './find-task.ts'
import { followOutput } from './follow-output.ts'
import type { GridAdminOptions } from './options.ts'
import { taskView } from './task-view.ts'
import { watchGrid } from './watch-grid.ts'

const EMPTY = new Uint8Array()
/** Tasks of a page that are looked at in one loop turn. */
const AT_ONCE = 16

/** The operator's view of the grid: tasks, their output, and the workers. */
export const gridAdmin = (options: GridAdminOptions): Service =>
  reportingFaults({
    name: 'windlass.grid.v1.GridAdmin',
    methods: {
      ListTasks: listTasks(options),
      GetTask: getTask(options),
      ExplainTask: explainTask(options),
      CancelTask: cancelTask(options),
      FollowOutput: followOutput(options),
      ListWorkers: listWorkers(options),
      DrainWorker: drainWorker(options),
      ResumeWorker: resumeWorker(options),
      WatchGrid: watchGrid(options),
    },
  })

const listTasks = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { instance, states, limit, cursor } = taskQueryFromProto(bytes)
    const query = { instance, states: states.length > 0 ? states : undefined, limit }
    const { operations, next } = await engine.listOperations(LOCAL_CALLER, query, cursor)
    const tasks: TaskView[] = []
    for (const status of operations) {
      tasks.push(taskView(status))
      if (tasks.length % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    return taskPageToProto({ tasks, next })
  },
})

const getTask = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  handle: async (bytes) => taskToProto(taskView(await findTask(taskNameFromProto(bytes), engine))),
})

const explainTask = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { operation } = await findTask(taskNameFromProto(bytes), engine)
    return reasonsToProto(await engine.why(LOCAL_CALLER, operation))
  },
})

const cancelTask = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const status = await findTask(taskNameFromProto(bytes), engine)
    await engine.cancel(LOCAL_CALLER, status.operation, {
      forAll: true,
      what: 'cancelled by whoever looks after the grid',
    })
    return taskToProto(taskView(status))
  },
})

const listWorkers = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    workersRequestFromProto(bytes)
    return workersToProto([...(await engine.workers.list()), ...(await engine.workers.lost())].map(workerInView))
  },
})

const workerInView = (view: WorkerView): WorkerInView => ({
  worker: view.worker,
  state: view.state,
  reason: view.what,
  slots: view.slots,
  tasks: view.leases,
  properties: view.properties,
  cpu: view.resources?.cpu,
  memoryBytes: view.resources?.memoryBytes,
  diskBytes: view.resources?.diskBytes,
  registeredAt: view.registeredAt,
  heardAt: view.heardAt,
  about: view.about ?? {},
})

const drainWorker = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { worker, shutdown } = drainFromProto(bytes)
    if (!(await engine.drainWorker(LOCAL_CALLER, worker, { shutdown }))) throw unknownWorker(worker)
    return EMPTY
  },
})

const resumeWorker = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const worker = resumeFromProto(bytes)
    if (!(await engine.resumeWorker(LOCAL_CALLER, worker))) throw unknownWorker(worker)
    return EMPTY
  },
})

const unknownWorker = (worker: string): FaultError =>
  new FaultError({ kind: 'absent', what: `no worker is registered as ${JSON.stringify(worker.slice(0, 200))}` })
