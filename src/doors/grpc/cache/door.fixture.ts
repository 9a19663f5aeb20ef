import { createFileRegistry, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import type { DigestFunction } from '../../../base/digest.ts'
import type { Method } from '../../../grpc/service.ts'
import type { ReapiLimits } from '../../../services/instances/cache-limits.ts'
import type { Instance } from '../../../services/instances/instances.ts'
import { digestOf } from '../../../storage/blobs.fixture.ts'
import type { BulkPool } from '../../../storage/bulk/bulk-pool.ts'
import { memoryActionCache } from '../../../storage/memory-action-cache.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { verifying } from '../../../storage/verification/verifying.ts'
import { fakeCall, fakeIncoming, fakeOutgoing } from '../../../testing/grpc-call.ts'
import { type ManualClock, manualClock } from '../../../testing/manual-clock.ts'
import { descriptorSet } from '../../../wire/admin/descriptor-set.ts'
import { reapiDoor } from './door.ts'

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet()))

/** Requests and responses are JSON; another implementation encodes and decodes them. */
export interface TestDoor {
  readonly clock: ManualClock
  readonly instance: Instance
  /** `Service.Method`, without the package. */
  unary<T = JsonObject>(method: string, request: JsonObject): Promise<T>
  /** All messages of a server stream. */
  answers<T = JsonObject>(method: string, request: JsonObject): Promise<T[]>
  /** A client stream; it breaks off after the last message when `isCut`. */
  send(method: string, requests: readonly JsonObject[], isCut?: boolean): Promise<JsonObject>
  put(...blobs: readonly Uint8Array[]): Promise<void>
}

export interface TestDoorOptions {
  readonly limits?: ReapiLimits
  readonly unnamedFunction?: DigestFunction
  /** Replaces parts of the instance, for stores that fail. */
  readonly over?: Partial<Instance>
}

/** All blobs are small: none is sent to another thread. */
const noBulk: BulkPool = {
  inspect() {
    throw new Error('a blob over 64 KiB')
  },
  close: async () => {},
}

/** The doors on a store in memory, without a connection. */
export function testDoor({ limits, unnamedFunction = 'sha256', over }: TestDoorOptions = {}): TestDoor {
  const clock = manualClock()
  const blobs = memoryStore()
  const uploads = verifying(noBulk)(blobs)
  const actions = memoryActionCache()
  const instance: Instance = { blobs, uploads, actions, unnamedFunction, mayUpdateActions: true, ...over }
  const services = reapiDoor({ instances: () => instance, clock, ...(limits && { limits }) })
  const found = (path: string) => {
    const [serviceName, methodName] = path.split('.') as [string, string]
    const service = services.find(({ name }) => name.endsWith(`.${serviceName}`))
    const method = service?.methods[methodName]
    const described = registry.getService(service?.name ?? '')?.methods.find(({ name }) => name === methodName)
    if (method === undefined || described === undefined) throw new Error(`no method ${path}`)
    return {
      method,
      encode: (json: JsonObject) => toBinary(described.input, fromJson(described.input, json)),
      decode: (bytes: Uint8Array) =>
        toJson(described.output, fromBinary(described.output, Uint8Array.from(bytes))) as JsonObject,
    }
  }
  const ofKind = <K extends Method['kind']>(path: string, kind: K) => {
    const { method, ...codec } = found(path)
    if (method.kind !== kind) throw new Error(`${path} is ${method.kind}`)
    return { ...codec, method: method as Extract<Method, { kind: K }> }
  }
  return {
    clock,
    instance,
    async unary<T>(path: string, request: JsonObject) {
      const { method, encode, decode } = ofKind(path, 'unary')
      return decode(await method.handle(encode(request), fakeCall())) as T
    },
    async answers<T>(path: string, request: JsonObject) {
      const { method, encode, decode } = ofKind(path, 'serverStreaming')
      const call = fakeCall()
      const out = fakeOutgoing(call)
      await method.handle(encode(request), out, call)
      return out.messages.map((message) => decode(message) as T)
    },
    async send(path, requests, isCut = false) {
      const { method, encode, decode } = ofKind(path, 'clientStreaming')
      const whole = fakeIncoming(requests.map(encode))
      const next = async () => (await whole.next()) ?? (isCut ? Promise.reject(new Error('cut off')) : undefined)
      return decode(await method.handle({ ...whole, next }, fakeCall()))
    },
    put: async (...all) => {
      for (const bytes of all) {
        const writer = instance.uploads.write(digestOf(bytes), 'identity')
        await writer.write(bytes)
        await writer.commit()
      }
    },
  }
}

/** A digest in JSON. */
export const nameOf = (bytes: Uint8Array): { hash: string; sizeBytes: string } => {
  const { hash, size } = digestOf(bytes)
  return { hash, sizeBytes: String(size) }
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** A message of any type, encoded from JSON: for blobs that are messages themselves. */
export function encoded(type: string, json: JsonObject): Uint8Array {
  const schema = registry.getMessage(`build.bazel.remote.execution.v2.${type}`)
  if (schema === undefined) throw new Error(`no message is named ${type}`)
  return toBinary(schema, fromJson(schema, json))
}
