import { createFileRegistry, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { digestOf } from '../../src/storage/blobs.fixture.ts'
import { descriptorSet } from '../../src/wire/admin/descriptor-set.ts'

/** Encodes and decodes messages given as JSON, by another implementation than ours. */
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet()))

const REAPI = 'build.bazel.remote.execution.v2'

const schemaOf = (type: string) => {
  const schema = registry.getMessage(type.includes('.') ? type : `${REAPI}.${type}`)
  if (schema === undefined) throw new Error(`no message is named ${type}`)
  return schema
}

/** Encodes a message of the Remote Execution API, or of any package when its full name is given. */
export const encoded = (type: string, json: JsonObject): Uint8Array =>
  toBinary(schemaOf(type), fromJson(schemaOf(type), json, { registry }))

export const decoded = <T = JsonObject>(type: string, bytes: Uint8Array): T =>
  toJson(schemaOf(type), fromBinary(schemaOf(type), Uint8Array.from(bytes)), { registry }) as T

/** The digest of a blob in JSON form. */
export const nameOf = (bytes: Uint8Array): { hash: string; sizeBytes: string } => {
  const { hash, size } = digestOf(bytes)
  return { hash, sizeBytes: String(size) }
}

export const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')

/** The bytes that a worker reports: an ActionResult. */
export const resultOf = (json: JsonObject = {}): Uint8Array => encoded('ActionResult', json)
