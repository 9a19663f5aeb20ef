import { FaultError } from '../../../base/fault.ts'
import type { ClientStreamingMethod, Method, ServerCall, Service, UnaryMethod } from '../../../grpc/service.ts'
import { askForLeases } from '../../../services/workers/ask-for-leases.ts'
import { describeWorker } from '../../../services/workers/describe-worker.ts'
import { leaseMessages } from '../../../services/workers/lease-messages.ts'
import { polledSession } from '../../../services/workers/polled-session.ts'
import { takeReport } from '../../../services/workers/task-reports.ts'
import {
  openWorkerSessions,
  type WorkerSessions,
  type WorkerSessionsOptions,
} from '../../../services/workers/worker-sessions.ts'
import { heartbeatAnswerToProto, heartbeatFromProto, unregisterFromProto } from '../../../wire/workers/heartbeat.ts'
import { leaseQuestionFromProto, leasesToProto } from '../../../wire/workers/lease.ts'
import { registrationFromProto } from '../../../wire/workers/registration.ts'
import {
  foundStageToProto,
  keptStageFromProto,
  stageQuestionFromProto,
  stageTaken,
} from '../../../wire/workers/stage.ts'
import { taskUpdateFromProto } from '../../../wire/workers/status.ts'
import { outputPieceFromProto } from '../../../wire/workers/stream.ts'
import { reportingFaults } from '../report-faults.ts'
import { streamLeases } from './stream-leases.ts'

/** The seed of this protocol names no package: both are what its readers come up with. */
const SCHEDULER_NAMES = ['expbuild.worker.v1.WorkerScheduler', 'build.bazel.remote.execution.v2.WorkerScheduler']
const LINK_NAME = 'windlass.worker.v1.WorkerLink'

const NOTHING = new Uint8Array()
/** So much before its caller's deadline a poll is answered: an answer that comes too late would be a lease lost. */
const ANSWER_AHEAD_MS = 500

/** Workers, as expbuild's protocol and our own stream have them. */
export function workersDoor(options: WorkerSessionsOptions): Service[] {
  const door = openWorkerSessions(options)
  const methods: Record<string, Method> = {
    RegisterWorker: registerWorker(door),
    LeaseTask: leaseTask(door),
    UpdateTaskStatus: updateTaskStatus(door),
    ReportHeartbeat: reportHeartbeat(door),
    UnregisterWorker: unregisterWorker(door),
  }
  const services: Service[] = [
    ...SCHEDULER_NAMES.map((name) => ({ name, methods })),
    {
      name: LINK_NAME,
      methods: {
        StreamLeases: streamLeases(door),
        ReportOutput: reportOutput(door),
        FindStage: findStage(door),
        KeepStage: keepStage(door),
      },
    },
  ]
  return services.map(reportingFaults)
}

const registerWorker = (door: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const registration = registrationFromProto(bytes)
    const session = polledSession({ registration, onOver: door.forget })
    await door.register(describeWorker(registration, 'asks'), session)
    return NOTHING
  },
})

const leaseTask = (door: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes, call) {
    const { worker, tasks, waitSeconds } = leaseQuestionFromProto(bytes)
    const session = door.sessionOf(worker)
    if (session === undefined) throw notRegistered(worker)
    const waitMs = patience(door, waitSeconds * 1000, call)
    const leases = await askForLeases(door, { worker, tasks, waitMs }, call)
    const words = leaseMessages(leases, {
      desk: door.desk,
      worker,
      wantsSpec: session.wantsSpec,
      now: door.clock.now(),
    })
    for (const { attemptId, expiresAt } of words) session.attempts.given(attemptId, expiresAt)
    return leasesToProto(words)
  },
})

function patience({ longPollMs, clock }: WorkerSessions, wishedMs: number, { deadline }: ServerCall): number {
  const untilDeadline = deadline === undefined ? longPollMs : deadline - clock.monotonic() - ANSWER_AHEAD_MS
  return Math.max(0, Math.min(wishedMs, longPollMs, untilDeadline))
}

const updateTaskStatus = (door: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const update = taskUpdateFromProto(bytes)
    const attempts = door.sessionOf(update.worker)?.attempts
    if (update.what.kind === 'started') attempts?.begun(update.attemptId)
    await takeReport({ ...door, ended: () => attempts?.ended(update.attemptId) }, update)
    return NOTHING
  },
})

const reportHeartbeat = (door: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { worker, state, running, load, preempted } = heartbeatFromProto(bytes)
    const session = door.sessionOf(worker)
    if (session === undefined) throw notRegistered(worker)
    const holds = session.attempts.renewedBy(running, door.clock.now())
    const pulse = {
      holds,
      draining: state === 'draining',
      ...(load !== undefined && { load }),
      ...(preempted && { preempted }),
    }
    if (!(await door.desk.heartbeat(worker, pulse))) throw notRegistered(worker)
    return heartbeatAnswerToProto(session.answer())
  },
})

const unregisterWorker = (door: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const worker = unregisterFromProto(bytes)
    if (!(await door.desk.unregister(worker))) throw notRegistered(worker)
    return NOTHING
  },
})

const reportOutput = ({ desk }: WorkerSessions): ClientStreamingMethod => ({
  kind: 'clientStreaming',
  keepsNothing: true,
  async handle(requests) {
    for await (const message of requests) await desk.output(outputPieceFromProto(message))
    return NOTHING
  },
})

const findStage = ({ stages }: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  handle: async (bytes) => foundStageToProto(await stages.find(stageQuestionFromProto(bytes))),
})

const keepStage = ({ stages }: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    await stages.keep(keptStageFromProto(bytes))
    return stageTaken()
  },
})

const notRegistered = (worker: string): FaultError =>
  new FaultError({ kind: 'absent', what: `no worker is registered as ${JSON.stringify(worker.slice(0, 200))}` })
