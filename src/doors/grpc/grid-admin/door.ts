import { FaultError } from '../../../base/fault.ts'
import type { WorkerView } from '../../../engine/workers/worker-session.ts'
import type { Service, UnaryMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { WorkerInView } from '../../../model/grid-view.ts'
import {
  drainFromProto,
  resumeFromProto,
  workersRequestFromProto,
  workersToProto,
} from '../../../wire/admin/grid-workers.ts'
import { reportingFaults } from '../report-faults.ts'
import type { GridAdminOptions } from './options.ts'
import { taskCalls } from './task-calls.ts'
import { watchGrid } from './watch-grid.ts'

const EMPTY = new Uint8Array()

/** The operator's view of the grid: tasks, their output, and the workers. */
export const gridAdmin = (options: GridAdminOptions): Service =>
  reportingFaults({
    name: 'windlass.grid.v1.GridAdmin',
    methods: {
      ...taskCalls(options),
      ListWorkers: listWorkers(options),
      DrainWorker: drainWorker(options),
      ResumeWorker: resumeWorker(options),
      WatchGrid: watchGrid(options),
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
