import { invalid } from '../../base/fault.ts'
import type { WorkerDescription } from '../../engine/workers/worker-session.ts'
import { ISOLATION_LEVELS, type IsolationLevel } from '../../model/isolation.ts'
import { LANGUAGE_PROPERTY, TESTING_PROPERTY } from '../../model/language.ts'
import { INTERACTIVE_PROPERTY } from '../../model/live-input.ts'
import { IMAGELESS_PROPERTY } from '../../model/properties/image-need.ts'
import { TASK_FORM_PROPERTY, type TaskForm } from '../../model/properties/task-form.ts'
import type { NamedValue, WorkerRegistration } from '../../wire/workers/registration.ts'

/** No machine runs more tasks at a time; the limit keeps one worker from taking the tasks of the whole grid. */
const MOST_SLOTS = 4096

/**
 * Values that a property also matches. REAPI lists OSFamily values in lower case, and clients write them in either
 * case; a stronger isolation level satisfies a weaker one.
 */
function alsoKnownAs({ name, value }: NamedValue): NamedValue[] {
  if (name === 'OSFamily') return [...new Set([value.toLowerCase(), value])].map((each) => ({ name, value: each }))
  // A property has one value on the wire, so a worker lists its languages with commas.
  if (name === LANGUAGE_PROPERTY || name === TESTING_PROPERTY)
    return value.split(',').map((each) => ({ name, value: each }))
  const level = name === 'isolation' ? ISOLATION_LEVELS.indexOf(value as IsolationLevel) : -1
  return level < 0 ? [{ name, value }] : ISOLATION_LEVELS.slice(0, level + 1).map((each) => ({ name, value: each }))
}

/** A worker that requests specs runs all kinds of tasks; others run actions by their digest only. */
const formsOf = ({ wantsSpec }: WorkerRegistration): readonly TaskForm[] =>
  wantsSpec ? ['action', 'command', 'plain', 'snippet'] : ['action']

/** A worker runs commands without an image unless it reports that it does not. */
const imageless = ({ platform }: WorkerRegistration): NamedValue[] =>
  platform.some(({ name, value }) => name === IMAGELESS_PROPERTY && value === 'no')
    ? []
    : [{ name: IMAGELESS_PROPERTY, value: 'yes' }]

/** The registration determines the kinds of task; polling workers cannot receive live input. */
const isReported = (name: string, way: 'asks' | 'streams'): boolean =>
  name !== TASK_FORM_PROPERTY && name !== IMAGELESS_PROPERTY && (way === 'streams' || name !== INTERACTIVE_PROPERTY)

/** Converts a registration to the description that the engine uses. */
export function describeWorker(registration: WorkerRegistration, way: 'asks' | 'streams'): WorkerDescription {
  const { worker, slots, prefetch, platform, labels, group, resources, preemptible, running, version } = registration
  if (slots > MOST_SLOTS) throw invalid(`max_concurrent_executions is ${slots}, and ${MOST_SLOTS} at most`, 'range')
  if (prefetch > MOST_SLOTS) throw invalid(`prefetch is ${prefetch}, and ${MOST_SLOTS} at most`, 'range')
  return {
    worker,
    slots,
    properties: [
      ...platform.filter(({ name }) => isReported(name, way)).flatMap(alsoKnownAs),
      ...formsOf(registration).map((value) => ({ name: TASK_FORM_PROPERTY, value })),
      ...imageless(registration),
      ...labels.map(({ name, value }) => ({ name: `label:${name}`, value })),
      ...(group === '' ? [] : [{ name: 'group', value: group }]),
    ],
    resources,
    ...(way === 'asks' ? { pulls: true } : { prefetch }),
    ...(preemptible && { preemptible }),
    ...(running && { running }),
    about: { protocol: way === 'asks' ? 'grpc, asking' : 'grpc, streaming', ...(version !== '' && { version }) },
  }
}
