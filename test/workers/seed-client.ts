import { create, createFileRegistry, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { type DescriptorProto, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import { descriptorSet } from '../../src/wire/admin/descriptor-set.ts'

const PACKAGE = 'expbuild.worker.v1'

/** The protocol as in its own document: all our additions have field numbers from 100 on. */
function seedOnly() {
  const set = fromBinary(FileDescriptorSetSchema, descriptorSet())
  const plain = ({ name, field, ...message }: DescriptorProto): DescriptorProto => ({
    ...message,
    name,
    field: field.filter(({ number }) => number < 100),
    oneofDecl: [],
  })
  const file = set.file.map((one) =>
    one.package === PACKAGE ? { ...one, messageType: one.messageType.map(plain) } : one,
  )
  return createFileRegistry(create(FileDescriptorSetSchema, { file }))
}

const registry = seedOnly()

/** Names and numbers of every field that a seed-only worker knows, by message. */
export function seedFields(message: string): Record<string, number> {
  const found = registry.getMessage(`${PACKAGE}.${message}`)
  return Object.fromEntries(found?.fields.map(({ name, number }) => [name, number]) ?? [])
}

export interface SeedClient {
  call(method: string, request: JsonObject): Promise<JsonObject>
  /** Starts a call that can be cancelled. */
  begin(method: string, request: JsonObject): { readonly answer: Promise<JsonObject>; hangUp(): void }
}

/** Calls by another implementation of gRPC and of protobuf, with only the seed's messages. */
export function seedClient(address: string, service = `${PACKAGE}.WorkerScheduler`): SeedClient {
  const client = new Client(address, credentials.createInsecure())
  onTestFinished(() => client.close())
  const begin: SeedClient['begin'] = (name, request) => {
    const method = registry.getService(`${PACKAGE}.WorkerScheduler`)?.methods.find((one) => one.name === name)
    if (method === undefined) throw new Error(`no method ${name}`)
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const call = client.makeUnaryRequest(
      `/${service}/${name}`,
      (json: JsonObject) => Buffer.from(toBinary(method.input, fromJson(method.input, json))),
      (bytes: Buffer) => toJson(method.output, fromBinary(method.output, bytes), { registry }) as JsonObject,
      request,
      new Metadata(),
      (error: ServiceError | null, answer?: JsonObject) => (error ? reject(error) : resolve(answer ?? {})),
    )
    return { answer: promise, hangUp: () => call.cancel() }
  }
  return { begin, call: (method, request) => begin(method, request).answer }
}
