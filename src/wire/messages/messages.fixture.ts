import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import fc from 'fast-check'
import { expect } from 'vitest'
import { DIGEST_FUNCTIONS, type Digest, type DigestFunction, type DigestList } from '../../base/digest.ts'
import { digestAt } from '../../base/digest-list.ts'
import { FaultError } from '../../base/fault.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import type { NodeProperties } from '../../model/node-properties.ts'
import type { Timestamp } from '../../model/timestamp.ts'
import { descriptorSet } from '../admin/descriptor-set.ts'
import type { DeepPartial, MessageFns } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet()))

/** Parses with another implementation, from our descriptors alone: the reference for what bytes mean. */
export function judged(name: string, bytes: Uint8Array): Message & Record<string, unknown> {
  const schema = registry.getMessage(name)
  if (schema === undefined) throw new Error(`no message is named ${name}`)
  mustEndInTime(schema, Uint8Array.from(bytes))
  return fromBinary(schema, Uint8Array.from(bytes)) as Message & Record<string, unknown>
}

/** Undefined when the reference parser refuses the bytes too: for messages that we read only in part. */
export function orUnread(name: string, bytes: Uint8Array): ReturnType<typeof judged> | undefined {
  try {
    return judged(name, bytes)
  } catch {
    return undefined
  }
}

/** The reference parser continues at the wrong place after a nested message that is too long, or a wrong wire type. */
function mustEndInTime(schema: DescMessage, bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    const field = schema.fields.find((one) => one.number === number)
    const isDelimited = type === WireType.LengthDelimited
    if (field !== undefined && !(isDelimited ? mayBeDelimited(field) : mayBePlain(field))) throw new Error('wrong type')
    if (!isDelimited) reader.skip(type, number)
    else if (field?.message === undefined) reader.bytes()
    else mustEndInTime(field.message, reader.bytes())
  }
}

const mayBePlain = ({ message, scalar }: DescField): boolean =>
  message === undefined && scalar !== ScalarType.STRING && scalar !== ScalarType.BYTES

const mayBeDelimited = (field: DescField): boolean => !mayBePlain(field) || field.fieldKind === 'list'

/** Encodes a partial message with the generated code. */
export const encodedAs = <T>(codec: MessageFns<T>, message: DeepPartial<T>): Uint8Array =>
  codec.encode(codec.fromPartial(message as never)).finish()

export const REAPI = 'build.bazel.remote.execution.v2'

export const aSize = fc.oneof(fc.nat(300), fc.nat(), fc.maxSafeNat())

export const aHash = (fn: DigestFunction): fc.Arbitrary<string> => {
  const { hashBytes } = DIGEST_FUNCTIONS[fn]
  return fc
    .uint8Array({ minLength: hashBytes, maxLength: hashBytes })
    .map((bytes) => Buffer.from(bytes).toString('hex'))
}

export const aDigest = (fn: DigestFunction): fc.Arbitrary<Digest> =>
  fc.record({ fn: fc.constant(fn), hash: aHash(fn), size: aSize })

export const aFunction = fc.constantFrom(...(Object.keys(DIGEST_FUNCTIONS) as DigestFunction[]))

export const anInstance = fc
  .array(fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }), { maxLength: 3 })
  .map((segments) => segments.join('/'))
  .filter((name) => instanceNameProblem(name) === undefined)

export const aTimestamp: fc.Arbitrary<Timestamp> = fc.record({
  seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
  nanos: fc.integer({ min: 0, max: 999_999_999 }),
})

export const maybe = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(some, { nil: undefined })

export const someText = fc.string({ unit: 'grapheme', maxLength: 20 })

export const someProperties: fc.Arbitrary<NodeProperties> = fc.record({
  named: fc.array(fc.record({ name: someText, value: someText }), { maxLength: 2 }),
  mtime: maybe(aTimestamp),
  unixMode: maybe(fc.nat(0o7777)),
})

export const digestsIn = (list: DigestList): Digest[] =>
  Array.from({ length: list.count }, (_, index) => digestAt(list, index))

/** The number of damaged messages that a test tries; raise it for a longer run. */
export const ACCIDENTS = 1000

/** The same bytes after one to three defects: truncated, changed, inserted or repeated bytes. */
export const damaged = (whole: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(whole, fc.array(fc.tuple(fc.nat(3), fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }))
    .map(([bytes, accidents]) => accidents.reduce(damage, bytes))

function damage(bytes: Uint8Array, [kind, place, value]: [number, number, number]): Uint8Array {
  const at = bytes.length === 0 ? 0 : place % bytes.length
  const before = bytes.subarray(0, at)
  if (kind === 0) return before
  if (kind === 1) return Buffer.concat([before, Buffer.of(value), bytes.subarray(at + 1)])
  if (kind === 2) return Buffer.concat([before, Buffer.of(value), bytes.subarray(at)])
  return Buffer.concat([bytes, bytes.subarray(at)])
}

/** The result, or undefined when the bytes were refused; any other error fails the test. */
export function orRefused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    expect(error).toBeInstanceOf(FaultError)
    expect((error as FaultError).fault.kind).toBe('invalid')
    return undefined
  }
}

/** Places the bytes between others, as a message lies in a receive buffer. */
export function amid(bytes: Uint8Array): Uint8Array {
  const around = Buffer.alloc(bytes.length + 64, 0x0a)
  around.set(bytes, 32)
  return around.subarray(32, 32 + bytes.length)
}
