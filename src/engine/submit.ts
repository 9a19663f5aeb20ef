/** Checks a request, and submits it to the scheduler as a new task. */
import { type FaultError, invalid } from '../base/fault.ts'
import { instanceNameProblem } from '../model/instance-name.ts'
import type { Property, ResourceAmounts, Submit } from '../scheduler/model/events.ts'
import { prepareSubmit, type SubmitSteps } from './cache-hit.ts'
import type { EngineState } from './engine-state.ts'
import { sealSpec } from './tasks/envelopes.ts'
import { shortened, unavailable } from './tasks/faults.ts'
import type { PendingSubmit } from './tasks/live-parts.ts'
import { LiveTask } from './tasks/live-task.ts'
import type { OperationStatus } from './tasks/status.ts'
import type { TaskRequest } from './tasks/task-request.ts'

/** Resolves when the task is accepted, or ended because the cache had its result; rejects with a FaultError. */
export function submit(engine: EngineState, requested: TaskRequest): Promise<OperationStatus> {
  const { unnamedInstance: instance } = engine
  const request = requested.instance === '' && instance !== '' ? { ...requested, instance } : requested
  const problem = stateProblem(engine, request) ?? requestProblem(engine, request)
  if (problem !== undefined) return Promise.reject(problem)
  const { results, roots } = engine
  const { cached, actionKey, durability } = request
  const hasResult = cached === undefined ? results !== undefined : cached.result !== undefined
  const mayHit = hasResult && request.cacheable === true && request.skipsCache !== true && actionKey !== undefined
  const needsSync = durability === 'power' && roots?.makeDurable !== undefined && (request.roots?.length ?? 0) > 0
  if (mayHit || needsSync) return submitPrepared(engine, request, { mayHit, needsSync })
  return new Promise((resolve, reject) => admit(engine, request, { resolve, reject }))
}

async function submitPrepared(engine: EngineState, request: TaskRequest, steps: SubmitSteps): Promise<OperationStatus> {
  // The caller's bytes may be a view into a receive buffer, which is reused during the wait.
  const { spec, note } = request
  const own = { ...request, spec: new Uint8Array(spec), ...(note && { note: new Uint8Array(note) }) }
  const hit = await prepareSubmit(engine, own, steps)
  if (hit !== undefined) return hit
  const problem = stateProblem(engine, own) // the state may have changed meanwhile
  if (problem !== undefined) throw problem
  return await new Promise((resolve, reject) => admit(engine, own, { resolve, reject }))
}

function stateProblem(engine: EngineState, { operation, whileDraining }: TaskRequest): FaultError | undefined {
  const { journalTrouble: trouble, meter, live } = engine
  if (engine.isClosing) {
    meter.refused('closing')
    return unavailable('the server is stopping')
  }
  if (engine.isDraining && !whileDraining) return unavailable('the server is stopping')
  if (trouble !== undefined && engine.clock.monotonic() < trouble.until) {
    meter.refused('journal')
    return trouble.error
  }
  return operation !== undefined && live.operations.has(operation)
    ? invalid(`an operation is already named ${shortened(operation)}`, 'exists')
    : undefined
}

function requestProblem({ limits }: EngineState, request: TaskRequest): FaultError | undefined {
  const { spec, note, instance, origin, invocation = '', actionKey = '', operation = 'x' } = request
  const { properties = NO_PROPERTIES, affinity } = request
  const wrongName = instanceNameProblem(instance)
  if (wrongName !== undefined) return invalid(`the instance name ${wrongName}`)
  if (operation === '') return invalid('an operation must have a name')
  for (const name of [instance, invocation, actionKey, operation, origin]) {
    if (name.length > limits.nameLength) return invalid(`a name is longer than ${limits.nameLength}`, 'range')
  }
  if (spec.length > limits.specBytes)
    return invalid(`the task spec has ${spec.length} bytes; the limit is ${limits.specBytes}`, 'range')
  if (note !== undefined && note.length > limits.noteBytes)
    return invalid(`the note has ${note.length} bytes; the limit is ${limits.noteBytes}`, 'range')
  if (properties.length > limits.properties || (affinity?.length ?? 0) > limits.properties)
    return invalid(`a task asks for more than ${limits.properties} properties`, 'range')
  for (const { name, value } of properties) {
    if (name.length + value.length > limits.nameLength)
      return invalid(`a property is longer than ${limits.nameLength} characters`, 'range')
  }
  const { demands = NO_DEMANDS, timeoutMs, estimateMs, maxRetries, priority = 0 } = request
  for (const amount of [demands.cpu, demands.memoryBytes, demands.diskBytes, timeoutMs, estimateMs, maxRetries]) {
    if (amount !== undefined && !(amount >= 0 && Number.isFinite(amount)))
      return invalid(`${amount} is not a valid amount`, 'range')
  }
  return Number.isFinite(priority) ? undefined : invalid('the priority is not a number', 'range')
}

const NO_PROPERTIES: readonly Property[] = []
const NO_DEMANDS: ResourceAmounts = {}

function admit(engine: EngineState, request: TaskRequest, submitter: PendingSubmit): void {
  const { instance, origin, invocation = '', actionKey, timeoutMs, cacheable = false, durability = 'process' } = request
  const { properties = NO_PROPERTIES, priority = 0, note, needsWaiter = false } = request
  const id = engine.live.newTaskId()
  const now = engine.clock.now()
  const hasRoots = engine.roots !== undefined && (request.roots?.length ?? 0) > 0
  const task = new LiveTask(
    {
      instance,
      origin,
      actionKey,
      cacheable,
      mayStartEarly: request.mayStartEarly ?? false,
      deferAck: request.deferAck ?? false,
      timeoutMs,
      acceptedAt: now,
      meter: engine.meter.of(instance, properties),
      hasRoots,
      attemptsBefore: 0,
    },
    {
      id,
      durability,
      unrecorded: { invocation, envelope: sealSpec(request, request.spec) },
      // The journal stores the priority that the scheduler uses.
      priority: Math.round(Math.min(100, Math.max(-100, priority))),
      bytes: engine.live.copyBytes(note, request.spec),
    },
    {
      name: request.operation ?? engine.newId(),
      labels: request.labels,
      needsWaiter,
      durability,
      joinedAt: now,
      submitter,
    },
  )
  engine.live.add(task)
  if (hasRoots) engine.roots?.hold(id, 'inputs', request.roots ?? [])
  engine.dispatch(submitEvent(request, task))
}

function submitEvent(request: TaskRequest, { id, accepted, first }: LiveTask): Submit {
  const { instance, actionKey, timeoutMs } = accepted
  const { invocation = '', priority = 0, properties = NO_PROPERTIES, demands = NO_DEMANDS } = request
  const event: { -readonly [Key in keyof Submit]: Submit[Key] } = {
    kind: 'submit',
    task: id,
    waiter: first.name,
    instance,
    invocation,
    priority,
    properties,
    demands,
  }
  if (accepted.cacheable && actionKey !== undefined) event.actionKey = actionKey // only cacheable tasks are merged
  if (request.affinity !== undefined) event.affinity = request.affinity
  if (timeoutMs !== undefined) event.timeoutMs = timeoutMs
  if (request.estimateMs !== undefined) event.estimateMs = request.estimateMs
  if (request.refusesPreemptible) event.refusesPreemptible = true
  if (request.interactive) event.interactive = true
  if (request.maxRetries !== undefined) event.maxRetries = request.maxRetries
  return event
}
