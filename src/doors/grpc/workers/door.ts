import { FaultError } from '../../../base/fault.ts'
import type { ClientStreamingMethod, Method, ServerCall, Service, UnaryMethod } from '../../../grpc/service.ts'
import { askForLeases } from '../../../services/workers/ask-for-leases.ts'
import { describeWorker } from '../../../services/workers/describe-worker.ts'
import { leaseMessages } from '../../../services/workers/leases.ts'
import { polledSession } from '../../../services/workers/polled-session.ts'
import { takeReport } from '../../../services/workers/task-reports.ts'
import {
  openWorkerSessions,
  type WorkerSessions,
  type WorkerSessionsOptions,
} from '../../../services/workers/worker-sessions.ts'
import { heartbeatAnswerToProto, heartbeatFromProto, unregisterFromProto } from '../../../wire/workers/heartbeat.ts'
import { leaseRequestFromProto, leasesToProto } from '../../../wire/workers/lease-stream.ts'
import { registrationFromProto } from '../../../wire/workers/registration.ts'
import { outputPieceFromProto, taskUpdateFromProto } from '../../../wire/workers/report.ts'
import {
  foundStageToProto,
  keptStageFromProto,
  stageQuestionFromProto,
  stageTaken,
} from '../../../wire/workers/stage.ts'
import { reportingFaults } from '../report-faults.ts'
import { streamLeases } from './stream-leases.ts'

/** The published protocol names no package: its implementations use one of these two. */
const SCHEDULER_NAMES = ['expbuild.worker.v1.WorkerScheduler', 'build.bazel.remote.execution.v2.WorkerScheduler']
const LINK_NAME = 'windlass.worker.v1.WorkerLink'

const NOTHING = new Uint8Array()
/** A poll is answered this long before the caller's deadline: a later answer would lose its lease. */
const ANSWER_AHEAD_MS = 500

/** The worker services: expbuild's polling protocol and our own stream. */
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
    const { worker, tasks, waitSeconds } = leaseRequestFromProto(bytes)
    const session = door.sessionOf(worker)
    if (session === undefined) throw notRegistered(worker)
    const waitMs = pollMs(door, waitSeconds * 1000, call)
    const leases = await askForLeases(door, { worker, tasks, waitMs }, call)
    const messages = leaseMessages(leases, {
      service: door.service,
      worker,
      wantsSpec: session.wantsSpec,
      now: door.clock.now(),
    })
    for (const { attemptId, expiresAt } of messages) session.attempts.given(attemptId, expiresAt)
    return leasesToProto(messages)
  },
})

function pollMs({ longPollMs, clock }: WorkerSessions, requestedMs: number, { deadline }: ServerCall): number {
  const untilDeadline = deadline === undefined ? longPollMs : deadline - clock.monotonic() - ANSWER_AHEAD_MS
  return Math.max(0, Math.min(requestedMs, longPollMs, untilDeadline))
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
    if (!(await door.service.heartbeat(worker, pulse))) throw notRegistered(worker)
    return heartbeatAnswerToProto(session.answer())
  },
})

const unregisterWorker = (door: WorkerSessions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const worker = unregisterFromProto(bytes)
    if (!(await door.service.unregister(worker))) throw notRegistered(worker)
    return NOTHING
  },
})

const reportOutput = ({ service }: WorkerSessions): ClientStreamingMethod => ({
  kind: 'clientStreaming',
  keepsNothing: true,
  async handle(requests) {
    for await (const message of requests) await service.output(outputPieceFromProto(message))
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
