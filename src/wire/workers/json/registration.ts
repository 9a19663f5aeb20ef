import { z } from 'zod'
import { invalid } from '../../../base/fault.ts'
import type { NamedValue, WorkerRegistration } from '../registration.ts'
import { maybe, readJson, shortText } from './read-json.ts'

/** The container runtimes of a worker, under the names of this protocol. */
export const CONTAINER_RUNTIMES = ['docker', 'apptainer', 'none'] as const
export type ContainerRuntime = (typeof CONTAINER_RUNTIMES)[number]

/** The registration of a worker over HTTP: the fields of the protocol, and our extensions. */
export interface JsonRegistration {
  readonly name: string
  readonly hostname: string
  readonly runtime: ContainerRuntime
  /** `worker` is empty when the worker requests a name from the server. */
  readonly registration: WorkerRegistration
}

const MOST_PAIRS = 1000
const MOST_LISTED = 100_000
const MOST_NAME = 200

const texts = () => z.union([shortText(), z.array(shortText()).max(MOST_PAIRS)])
const table = () =>
  maybe(z.record(shortText(), texts()).refine((all) => Object.keys(all).length <= MOST_PAIRS, 'has too many names'))
const amount = () => maybe(z.number().min(0).max(Number.MAX_SAFE_INTEGER))

const REGISTRATION = z.object({
  id: maybe(shortText()),
  name: maybe(shortText()),
  hostname: maybe(shortText()),
  runtime: maybe(shortText()),
  labels: table(),
  group: maybe(shortText()),
  version: maybe(shortText()),
  slots: maybe(z.int().min(1)),
  resources: maybe(z.object({ cpu: amount(), memory_bytes: amount(), disk_bytes: amount() })),
  platform: table(),
  running_tasks: maybe(z.array(shortText()).max(MOST_LISTED)),
  preemptible: maybe(z.boolean()),
  wants_spec: maybe(z.boolean()),
})

export function registrationFromJson(json: unknown): JsonRegistration {
  const from = readJson(REGISTRATION, json)
  const { id = '', name = id, hostname = '', resources = {} } = from
  if (name === '') throw invalid('name: must not be empty')
  for (const [field, value] of Object.entries({ id, name, hostname })) mustBeName(field, value)
  return {
    name,
    hostname,
    runtime: runtimeOf(from.runtime),
    registration: {
      worker: id,
      slots: from.slots ?? 1,
      resources: {
        ...(resources.cpu && { cpu: resources.cpu }),
        ...(resources.memory_bytes && { memoryBytes: resources.memory_bytes }),
        ...(resources.disk_bytes && { diskBytes: resources.disk_bytes }),
      },
      platform: pairsOf(from.platform),
      labels: pairsOf(from.labels),
      running: from.running_tasks,
      prefetch: 0, // this protocol has no message that starts a prefetched task
      preemptible: from.preemptible ?? false,
      version: from.version ?? '',
      group: from.group ?? '',
      wantsSpec: from.wants_spec ?? false,
    },
  }
}

export const registrationToJson = ({ name, hostname, runtime, registration: from }: JsonRegistration): object => ({
  id: from.worker,
  name,
  hostname,
  runtime,
  labels: tableOf(from.labels),
  group: from.group,
  version: from.version,
  slots: from.slots,
  resources: {
    cpu: from.resources.cpu,
    memory_bytes: from.resources.memoryBytes,
    disk_bytes: from.resources.diskBytes,
  },
  platform: tableOf(from.platform),
  running_tasks: from.running,
  preemptible: from.preemptible,
  wants_spec: from.wantsSpec,
})

/** The header of each request of a worker; its value is the session id. */
export const SESSION_HEADER = 'windlass-session'

const ANSWER = z.object({ data: z.object({ session: shortText() }) })

/**
 * Decodes the session id. Every later request of the worker contains it, so that the server can distinguish two
 * registrations under one name.
 */
export const sessionFromJson = (json: unknown): string => readJson(ANSWER, json).data.session

/** Names appear in URL paths, logs and tables. */
function mustBeName(field: string, value: string): void {
  if (value.length > MOST_NAME || /\p{Cc}/u.test(value) || value === '.' || value === '..')
    throw invalid(`${field}: must be a name that is not too long`)
}

function runtimeOf(word = ''): ContainerRuntime {
  const runtime = CONTAINER_RUNTIMES.find((one) => one === (word.toLowerCase() || 'none'))
  if (runtime === undefined) throw invalid(`runtime: must be one of ${CONTAINER_RUNTIMES.join(', ')}`)
  return runtime
}

type Table = Readonly<Record<string, string | readonly string[]>>

const pairsOf = (from: Table = {}): NamedValue[] =>
  Object.entries(from).flatMap(([name, values]) => [values].flat().map((value) => ({ name, value })))

/** Collects all values of one name in an array. */
function tableOf(pairs: readonly NamedValue[]): Table {
  const all = new Map<string, string[]>()
  for (const { name, value } of pairs) all.set(name, [...(all.get(name) ?? []), value])
  return Object.fromEntries([...all].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]))
}
