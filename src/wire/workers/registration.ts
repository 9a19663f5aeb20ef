import { invalid } from '../../base/fault.ts'
import { RegisterWorkerRequest } from '../gen/expbuild/worker/v1/worker_api.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** The registration of a worker. */
export interface WorkerRegistration {
  readonly worker: string
  readonly slots: number
  /** A resource that is not set is unlimited. */
  readonly resources: { readonly cpu?: number; readonly memoryBytes?: number; readonly diskBytes?: number }
  readonly platform: readonly NamedValue[]
  /** The ids of attempts that the worker still runs; undefined when the worker does not list them. */
  readonly running: readonly string[] | undefined
  readonly prefetch: number
  readonly preemptible: boolean
  readonly version: string
  readonly labels: readonly NamedValue[]
  readonly group: string
  /** The worker requests the spec of the task in each lease. */
  readonly wantsSpec: boolean
}

export interface NamedValue {
  readonly name: string
  readonly value: string
}

const PAIR: Shape = { 1: 'text', 2: 'text' }
export const ATTEMPTS_SHAPE: Shape = { 1: 'text' }

/** Leaves out numbers that are not varints; the generated decoder checks their wire type. */
export const REGISTRATION_SHAPE: Shape = {
  1: 'text',
  2: { 1: 'number', 2: { 2: 'number', 3: 'number' } },
  3: PAIR,
  100: ATTEMPTS_SHAPE,
  101: 'number',
  102: 'number',
  103: 'text',
  104: PAIR,
  105: 'text',
  106: 'number',
}

export function registrationFromProto(bytes: Uint8Array): WorkerRegistration {
  const named = { name: 'RegisterWorkerRequest', shape: REGISTRATION_SHAPE }
  return registrationOf(decodeWellFormed(RegisterWorkerRequest, bytes, named))
}

export function registrationOf(from: RegisterWorkerRequest): WorkerRegistration {
  const { capabilities, running } = from
  const resources = capabilities?.resources
  return {
    worker: from.workerId,
    slots: Math.max(1, counted('max_concurrent_executions', capabilities?.maxConcurrentExecutions ?? 0)),
    resources: {
      ...nonZero('cpu', counted('cpu_cores', resources?.cpuCores ?? 0)),
      ...nonZero('memoryBytes', counted('memory_bytes', resources?.memoryBytes ?? 0)),
      ...nonZero('diskBytes', counted('disk_bytes', resources?.diskBytes ?? 0)),
    },
    platform: pairsOf(from.platformProperties),
    running: running?.taskIds,
    prefetch: counted('prefetch', from.prefetch),
    preemptible: from.preemptible,
    version: from.version,
    labels: pairsOf(from.labels),
    group: from.group,
    wantsSpec: from.wantsSpec,
  }
}

export const registrationToProto = (registration: WorkerRegistration): Uint8Array =>
  RegisterWorkerRequest.encode(registrationMessage(registration)).finish()

export const registrationMessage = (from: WorkerRegistration): RegisterWorkerRequest => ({
  workerId: from.worker,
  capabilities: {
    maxConcurrentExecutions: from.slots,
    resources: {
      cpuCores: from.resources.cpu ?? 0,
      memoryBytes: from.resources.memoryBytes ?? 0,
      diskBytes: from.resources.diskBytes ?? 0,
    },
  },
  platformProperties: tableOf(from.platform),
  running: from.running && { taskIds: from.running },
  prefetch: from.prefetch,
  preemptible: from.preemptible,
  version: from.version,
  labels: tableOf(from.labels),
  group: from.group,
  wantsSpec: from.wantsSpec,
})

const pairsOf = (table: Readonly<Record<string, string>>): NamedValue[] =>
  Object.entries(table).map(([name, value]) => ({ name, value }))

const tableOf = (pairs: readonly NamedValue[]): { [name: string]: string } =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]))

/** 0 counts as not set. */
const nonZero = <K extends string>(name: K, value: number): Partial<Record<K, number>> =>
  value === 0 ? {} : ({ [name]: value } as Record<K, number>)

function counted(field: string, value: number): number {
  if (!Number.isFinite(value) || value < 0) throw invalid(`${field} is ${value}`)
  return value
}
