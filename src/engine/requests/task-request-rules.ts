import { type FaultError, invalid } from '../../base/fault.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import type { EngineState } from '../state/engine-state.ts'
import { shortened, unavailable } from '../tasks/faults.ts'
import type { TaskRequest } from '../tasks/task-request.ts'

/** Why it is not taken in, before anybody is asked; undefined when nothing speaks against it. */
export function submissionProblem(engine: EngineState, submission: TaskRequest): FaultError | undefined {
  return stateProblem(engine) ?? nameTaken(engine, submission) ?? wordsProblem(engine, submission)
}

function stateProblem(engine: EngineState): FaultError | undefined {
  if (engine.isClosing) {
    engine.meter.refused('closing')
    return unavailable('the server is stopping')
  }
  const { trouble } = engine.repair
  if (trouble === undefined || engine.clock.monotonic() >= trouble.until) return undefined
  engine.meter.refused('journal')
  return trouble.error
}

const nameTaken = (engine: EngineState, { operation }: TaskRequest): FaultError | undefined =>
  operation !== undefined && engine.live.operations.has(operation)
    ? invalid(`an operation is already named ${shortened(operation)}`, 'exists')
    : undefined

/** What the caller said that cannot be. */
function wordsProblem({ limits }: EngineState, submission: TaskRequest): FaultError | undefined {
  const { spec, note, properties = [], affinity = [], instance, invocation = '', actionKey = '' } = submission
  const wrongName = instanceNameProblem(instance)
  if (wrongName !== undefined) return invalid(`the instance name ${wrongName}`)
  const { operation = 'x', origin } = submission
  if (operation === '') return invalid('an operation must have a name')
  for (const name of [instance, invocation, actionKey, operation, origin]) {
    if (name.length > limits.nameLength) return invalid(`a name is longer than ${limits.nameLength}`, 'range')
  }
  if (spec.length > limits.specBytes) return invalid(`a task is described in ${spec.length} bytes, too many`, 'range')
  if (note !== undefined && note.length > limits.noteBytes) return invalid('a note is too long', 'range')
  if (properties.length > limits.properties || affinity.length > limits.properties)
    return invalid(`a task asks for more than ${limits.properties} properties`, 'range')
  for (const { name, value } of properties) {
    if (name.length + value.length > limits.nameLength) return invalid('a property is too long', 'range')
  }
  return amountsProblem(submission)
}

function amountsProblem({
  demands = {},
  timeoutMs,
  estimateMs,
  maxRetries,
  priority,
}: TaskRequest): FaultError | undefined {
  for (const amount of [demands.cpu, demands.memoryBytes, demands.diskBytes, timeoutMs, estimateMs, maxRetries]) {
    if (amount !== undefined && !(amount >= 0 && Number.isFinite(amount)))
      return invalid(`${amount} is no amount`, 'range')
  }
  return priority === undefined || Number.isFinite(priority) ? undefined : invalid('the priority is no number', 'range')
}
