import type { WebSocketRoute } from '../../doors/http/server/web-sockets.ts'
import type { Method } from '../../grpc/service.ts'

type Kinds = Readonly<Record<string, Method['kind']>>

const SCHEDULER: Kinds = {
  RegisterWorker: 'unary',
  LeaseTask: 'unary',
  UpdateTaskStatus: 'unary',
  ReportHeartbeat: 'unary',
  UnregisterWorker: 'unary',
}

/** The methods of a grid, served while no grid is open. A test compares them with a real grid. */
export const GRID_METHODS: Readonly<Record<string, Kinds>> = {
  'build.bazel.remote.execution.v2.Execution': { Execute: 'serverStreaming', WaitExecution: 'serverStreaming' },
  'google.longrunning.Operations': {
    GetOperation: 'unary',
    ListOperations: 'unary',
    CancelOperation: 'unary',
    DeleteOperation: 'unary',
    WaitOperation: 'unary',
  },
  'build.bazel.remote.logstream.v1.LogStreamService': { CreateLogStream: 'unary' },
  'expbuild.worker.v1.WorkerScheduler': SCHEDULER,
  'build.bazel.remote.execution.v2.WorkerScheduler': SCHEDULER,
  'windlass.worker.v1.WorkerLink': {
    StreamLeases: 'bidi',
    ReportOutput: 'clientStreaming',
    FindStage: 'unary',
    KeepStage: 'unary',
  },
  'windlass.grid.v1.GridAdmin': {
    ListTasks: 'unary',
    GetTask: 'unary',
    ExplainTask: 'unary',
    CancelTask: 'unary',
    FollowOutput: 'serverStreaming',
    ListWorkers: 'unary',
    DrainWorker: 'unary',
    ResumeWorker: 'unary',
    WatchGrid: 'serverStreaming',
  },
}

const LIVE_BYTES = 8 * 1024 * 1024

export const GRID_SOCKETS: readonly Pick<WebSocketRoute, 'path' | 'maxMessageBytes'>[] = [
  { path: '/api/v1/workers/connect' },
  { path: '/api/v1/tasks/interactive', maxMessageBytes: LIVE_BYTES },
  { path: '/api/v2/connect', maxMessageBytes: LIVE_BYTES },
  { path: '/api/v2/piston/connect', maxMessageBytes: LIVE_BYTES },
]
