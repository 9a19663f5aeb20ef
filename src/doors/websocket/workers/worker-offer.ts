import type { WorkerDescription, WorkerPulse } from '../../../engine/workers/worker-session.ts'
import { LANGUAGE_PROPERTY } from '../../../model/language.ts'
import { IMAGELESS_PROPERTY } from '../../../model/properties/image-need.ts'
import { TASK_FORM_PROPERTY } from '../../../model/properties/task-form.ts'
import type { SocketHeartbeat } from './request.ts'

/** No machine runs more tasks at a time; the limit keeps one worker from taking the tasks of the whole grid. */
const MOST_SLOTS = 1024

/** The fields of a heartbeat that form a registration. When they change, the worker is registered again. */
export interface WorkerOffer {
  readonly slots: number
  /** Maps the server's name of a language to the worker's name. */
  readonly languages: ReadonlyMap<string, string>
}

/** Maps the worker's name of a language to the server's name. */
export type CanonicalName = (language: string) => string

/** Fields that a heartbeat leaves out are unchanged. */
export function workerOfferOf(
  { load, capabilities }: SocketHeartbeat,
  canonical: CanonicalName,
  before?: WorkerOffer,
): WorkerOffer {
  const slots = load?.maxConcurrent ?? before?.slots ?? 1
  return {
    slots: Math.min(MOST_SLOTS, Math.max(1, Math.floor(slots))),
    languages: capabilities
      ? new Map(capabilities.map((alias) => [canonical(alias.toLowerCase()), alias]))
      : (before?.languages ?? new Map()),
  }
}

export const sameOffer = (one: WorkerOffer, other: WorkerOffer): boolean =>
  one.slots === other.slots &&
  one.languages.size === other.languages.size &&
  [...one.languages].every(([name, alias]) => other.languages.get(name) === alias)

export const describeSocketWorker = (
  worker: string,
  { slots, languages }: WorkerOffer,
  running: readonly string[],
): WorkerDescription => ({
  worker,
  slots,
  properties: [
    { name: TASK_FORM_PROPERTY, value: 'snippet' },
    { name: IMAGELESS_PROPERTY, value: 'yes' },
    ...Array.from(languages.keys(), (value) => ({ name: LANGUAGE_PROPERTY, value })),
  ],
  running,
  about: { protocol: 'websocket' },
})

/** The server's state of the worker. */
export interface Known {
  readonly given: number
  /** The ids of the attempts that its heartbeat lists, if it lists any. */
  readonly holds?: readonly string[] | undefined
  /** CPU use by other programs at the previous heartbeat. */
  readonly foreign: number
}

/** CPU use by programs other than the tasks of this server. */
export const foreignUse = ({ load }: SocketHeartbeat, { given, foreign }: Known): number =>
  given === 0 ? (load?.cpuUsage ?? 0) : Math.min(foreign, load?.cpuUsage ?? 0)

/**
 * Computes the load of a worker from its heartbeat: the maximum of CPU use by other programs, memory use, and slots
 * that other servers use. A worker that reports `degraded` has a load of 1.
 */
export function pulseOf(message: SocketHeartbeat, known: Known): WorkerPulse {
  const { load, status } = message
  const slots = Math.max(1, load?.maxConcurrent ?? 1)
  const foreignTasks = Math.max(0, (load?.currentTasks ?? 0) - known.given) / slots
  const word = status?.toLowerCase()
  const heaviest = Math.max(
    foreignUse(message, known),
    load?.memoryUsage ?? 0,
    foreignTasks,
    word === 'degraded' ? 1 : 0,
  )
  return {
    load: Math.min(1, heaviest),
    ...(known.holds && { holds: known.holds }),
    ...(word === 'draining' && { draining: true }),
    ...(word === 'preempted' && { preempted: true }),
  }
}
