/** The calls of workers about themselves: register, heartbeat, disconnect, unregister; and the views of workers. */
import { invalid } from '../base/fault.ts'
import { parseAttemptId } from '../model/fencing.ts'
import type { AttemptRef } from '../scheduler/model/events.ts'
import type { EngineState } from './engine-state.ts'
import { recordOfferedNames } from './offered-names.ts'
import { exhausted, unavailable } from './tasks/faults.ts'
import { newLink, viewOfLink } from './workers/worker-links.ts'
import type { LocalWorkerService } from './workers/worker-service.ts'
import type { WorkerDescription, WorkerPulse, WorkerSession, WorkerView } from './workers/worker-session.ts'

const MOST_ATTEMPTS_LISTED = 100_000
const RETRY_AFTER_MS = 10_000

type RegistrationCalls = Pick<
  LocalWorkerService,
  'register' | 'heartbeat' | 'disconnected' | 'unregister' | 'list' | 'lost'
>

export const registrationCalls = (engine: EngineState): RegistrationCalls => ({
  register: (description, session) => register(engine, description, session),
  heartbeat: (worker, pulse) => heartbeat(engine, worker, pulse),
  disconnected(worker, session) {
    const link = engine.links.find(worker)
    if (link?.session !== session) return
    link.isCutOff = true
    engine.dispatch({ kind: 'disconnected', worker })
  },
  unregister(worker) {
    const link = engine.links.find(worker)
    if (link === undefined) return false
    link.isLeaving = true
    engine.dispatch({ kind: 'unregister', worker })
    return true
  },
  list: () => views(engine),
  lost: () => engine.lost.views(engine.clock.now()),
})

/** A worker that registers again keeps the attempts that it lists; its old session is closed. */
function register(engine: EngineState, description: WorkerDescription, session: WorkerSession): void {
  if (engine.isClosing) throw unavailable('the server is stopping')
  const { worker, running, resources = {}, ...rest } = description
  checkDescription(engine, description)
  const attempts = running && attemptsOf(running)
  if (engine.links.find(worker) === undefined && engine.links.size >= engine.limits.workers)
    throw exhausted('room for workers', RETRY_AFTER_MS)
  const before = engine.links.add(newLink(description, session, engine.clock.now()))
  engine.lost.remove(worker)
  if (before !== undefined) engine.links.drop(before, 'it registered again')
  recordOfferedNames(engine, rest.properties)
  engine.dispatch({
    kind: 'register',
    worker,
    slots: rest.slots,
    properties: rest.properties,
    resources,
    ...(rest.prefetch !== undefined && { prefetch: rest.prefetch }),
    ...(rest.preemptible && { preemptible: true }),
    ...(rest.pulls && { pulls: true }),
    ...(rest.notReady && { notReady: true }),
    ...(attempts && { running: attempts }),
  })
}

function checkDescription({ limits }: EngineState, { worker, properties }: WorkerDescription): void {
  if (worker === '' || worker.length > limits.nameLength)
    throw invalid(`a worker must have a name of 1 to ${limits.nameLength} characters`)
  if (properties.length > limits.properties)
    throw invalid(`a worker offers more than ${limits.properties} properties`, 'range')
  for (const { name, value } of properties) {
    if (name.length + value.length > limits.nameLength)
      throw invalid(`a property is longer than ${limits.nameLength} characters`, 'range')
  }
}

function attemptsOf(ids: readonly string[]): AttemptRef[] {
  if (ids.length > MOST_ATTEMPTS_LISTED)
    throw invalid(`a worker lists more than ${MOST_ATTEMPTS_LISTED} attempts`, 'range')
  return ids.map(parseAttemptId)
}

/** False for an unknown worker: it has to register. */
function heartbeat(
  engine: EngineState,
  worker: string,
  { holds, load, draining, preempted }: WorkerPulse = {},
): boolean {
  const link = engine.links.find(worker)
  if (link === undefined) return false
  if (preempted) {
    engine.log.info({ worker }, 'worker is preempted, its tasks are queued again')
    engine.dispatch({ kind: 'preempted', worker })
    return true
  }
  const attempts = holds && attemptsOf(holds)
  link.heardAt = engine.clock.now()
  link.isCutOff = false
  engine.dispatch({
    kind: 'heartbeat',
    worker,
    ...(attempts && { holds: attempts }),
    ...(load !== undefined && { load }),
    ...(draining && { draining }),
  })
  return true
}

function views(engine: EngineState): WorkerView[] {
  const leases = new Map<string, number>()
  for (const { worker, fencing, ending } of engine.live.tasks.values()) {
    if (worker !== undefined && fencing !== undefined && ending === undefined)
      leases.set(worker, (leases.get(worker) ?? 0) + 1)
  }
  return Array.from(engine.links.all(), (link) => viewOfLink(link, leases.get(link.description.worker) ?? 0))
}
