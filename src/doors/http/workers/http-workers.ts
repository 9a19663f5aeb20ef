import type { Context } from 'hono'
import { FaultError } from '../../../base/fault.ts'
import type { WorkerDescription, WorkerView } from '../../../engine/workers/worker-session.ts'
import { INTERACTIVE_PROPERTY } from '../../../model/live-input.ts'
import { IMAGE_PROPERTY } from '../../../model/properties/image-need.ts'
import { TASK_FORM_PROPERTY } from '../../../model/properties/task-form.ts'
import type { WorkerState } from '../../../model/worker-state.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import { describeWorker } from '../../../services/workers/describe-worker.ts'
import { type DoorSession, polledSession } from '../../../services/workers/polled-session.ts'
import type { WorkerSessions } from '../../../services/workers/worker-sessions.ts'
import {
  type ContainerRuntime,
  type JsonRegistration,
  SESSION_HEADER,
} from '../../../wire/workers/json/registration.ts'
import { type EnvelopeTools, SupersededError } from '../server/envelope.ts'
import type { GivenPlainTask } from './response.ts'
import { type WakeUp, wakeUp } from './wake-up.ts'

/** Shared by the routes. */
export interface HttpWorkersTools extends EnvelopeTools {
  readonly door: WorkerSessions
  readonly workers: HttpWorkers
  readonly instances: Instances
}

/** A worker that is registered over HTTP. */
export interface HttpWorker {
  readonly id: string
  readonly wantsSpec: boolean
  readonly runtime: ContainerRuntime
  readonly session: DoorSession
  /** Identifies this registration among others under the same name. */
  readonly token: string
  /**
   * Unfinished attempts of this worker, with the data that is needed to build their results; undefined for workers that
   * send whole results.
   */
  readonly given: Map<string, GivenPlainTask | undefined>
  /** Notified when there is an order for the worker. */
  readonly news: WakeUp
}

/** The workers that are registered over HTTP. */
export interface HttpWorkers {
  register(from: JsonRegistration, newId: () => string): Promise<HttpWorker>
  /**
   * Throws `absent` for a worker that must register first, and `SupersededError` for one that another registration has
   * replaced.
   */
  known(id: string, token?: string): HttpWorker
  find(id: string): HttpWorker | undefined
}

export function httpWorkers(door: WorkerSessions): HttpWorkers {
  const workers = new Map<string, HttpWorker>()
  const find = (id: string): HttpWorker | undefined => {
    const session = door.sessionOf(id)
    const worker = workers.get(id)
    return session !== undefined && worker?.session === session ? worker : undefined
  }
  return {
    find,
    known(id, token) {
      const worker = find(id)
      // Two workers with one name would replace each other forever, so the one that registered first must exit.
      if (worker !== undefined && token !== undefined && token !== worker.token)
        throw new SupersededError(`another worker has registered as ${JSON.stringify(id.slice(0, 200))}`)
      if (worker !== undefined) return worker
      const what = `no worker is registered as ${JSON.stringify(id.slice(0, 200))}: register first`
      throw new FaultError({ kind: 'absent', what })
    },
    async register(from, newId) {
      const { wantsSpec, running, worker: named } = from.registration
      const id = named === '' ? `wrk_${newId()}` : named
      const before = workers.get(id)
      const news = wakeUp(door.clock)
      const session = polledSession({
        registration: from.registration,
        onMessage: () => news.notify(),
        onOver(over) {
          door.forget(over)
          if (workers.get(id)?.session === over) workers.delete(id)
        },
      })
      const given = new Map((running ?? []).map((attempt) => [attempt, before?.given.get(attempt)]))
      const worker = { id, wantsSpec, runtime: from.runtime, session, given, news, token: newId() }
      workers.set(id, worker) // first: the request of an old worker's poll must find the new worker
      try {
        await door.register(descriptionOf(id, from), session)
      } catch (error) {
        if (before !== undefined && workers.get(id) === worker) workers.set(id, before)
        else if (workers.get(id) === worker) workers.delete(id)
        throw error
      }
      return worker
    },
  }
}

/** The worker that sends the request. Windlass workers also send the session of their registration. */
export const askerOf = (c: Context, workers: HttpWorkers): HttpWorker =>
  workers.known(c.req.param('id') ?? '', c.req.header(SESSION_HEADER))

/** A worker that reads no specs gets plain commands only, whatever it declares. */
function descriptionOf(id: string, { name, hostname, runtime, registration }: JsonRegistration): WorkerDescription {
  const described = describeWorker({ ...registration, worker: id }, 'asks')
  const properties = described.properties.filter((property) => property.name !== INTERACTIVE_PROPERTY) // no live input
  const plain = [
    ...properties.filter((property) => property.name !== TASK_FORM_PROPERTY),
    { name: TASK_FORM_PROPERTY, value: 'plain' },
    ...containerProperties(runtime),
  ]
  const about = { ...described.about, protocol: 'http', name, hostname, runtime }
  return { ...described, properties: registration.wantsSpec ? properties : plain, about }
}

/** A worker with a container runtime accepts any image. */
const containerProperties = (runtime: ContainerRuntime) =>
  runtime === 'none' ? [] : [{ name: IMAGE_PROPERTY, value: '*' }]

const WORDS = {
  OFFLINE: 'offline',
  REGISTERING: 'online',
  ONLINE: 'online',
  BUSY: 'online',
  DEGRADED: 'online',
  DRAINING: 'draining',
} as const satisfies Record<WorkerState, string>

const LABEL = 'label:'

/** A worker in the format of clients and workers. Workers of other protocols have a name too. */
export function workerJson(view: WorkerView, given: HttpWorker['given'] | undefined): object {
  const { worker, about = {}, properties, state, what, slots, leases, heardAt, registeredAt } = view
  const labels = properties.filter(({ name }) => name.startsWith(LABEL))
  const running = [...(given?.keys() ?? [])]
  return {
    id: worker,
    name: about.name ?? worker,
    hostname: about.hostname ?? '',
    state: WORDS[state],
    runtime: about.runtime ?? 'none',
    labels: Object.fromEntries(labels.map(({ name, value }) => [name.slice(LABEL.length), value])),
    last_seen: new Date(heardAt).toISOString(),
    current_task: running[0] ?? '',
    registered_at: new Date(registeredAt).toISOString(),
    group: properties.find(({ name }) => name === 'group')?.value ?? '',
    version: about.version ?? '',
    protocol: about.protocol ?? '',
    slots,
    tasks: leases,
    why: what,
  }
}
