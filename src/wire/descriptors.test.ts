import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import { describe, expect, test } from 'vitest'
import { descriptorSet } from './admin/descriptor-set.ts'
import { readDescriptors } from './descriptors.ts'

const ours = readDescriptors(descriptorSet())
const judged = fromBinary(FileDescriptorSetSchema, descriptorSet()).file

describe('the descriptor set', () => {
  test('lists each file after its imports, and all imports are present', () => {
    const seen: string[] = []
    for (const file of ours) {
      expect(seen).toEqual(expect.arrayContaining([...file.imports]))
      seen.push(file.name)
    }
    expect(seen).toContain('grpc/health/v1/health.proto')
  })

  test('declares the same files and symbols as an independent parser finds', () => {
    expect(ours.map(({ name, imports }) => ({ name, imports }))).toEqual(
      judged.map(({ name, dependency }) => ({ name, imports: dependency })),
    )
    for (const [at, file] of judged.entries()) expect(ours[at]?.symbols.toSorted()).toEqual(symbolsOf(file).toSorted())
  })

  test('contains no comments', () => {
    for (const file of judged) expect(file.sourceCodeInfo).toBeUndefined()
  })
})

describe('readDescriptors', () => {
  test('finds extensions, top-level and nested, under the name of the extended message', () => {
    const holder = { name: 'Holder', extension: [{ name: 'inner', extendee: '.y.Options', number: 50_001 }] }
    const outer = { name: 'outer', extendee: '.y.Options', number: 72_295_728 }
    const [file] = readDescriptors(
      toBinary(
        FileDescriptorSetSchema,
        create(FileDescriptorSetSchema, {
          file: [{ name: 'x.proto', package: 'x', messageType: [holder], extension: [outer] }],
        }),
      ),
    )
    expect(file?.extensions).toEqual([
      { extendee: 'y.Options', number: 50_001 },
      { extendee: 'y.Options', number: 72_295_728 },
    ])
    expect(file?.symbols).toEqual(['x.Holder', 'x.Holder.inner', 'x.outer'])
  })

  test('returns unqualified symbol names for a file without a package', () => {
    const set = create(FileDescriptorSetSchema, { file: [{ name: 'x.proto', enumType: [{ name: 'E' }] }] })
    expect(readDescriptors(toBinary(FileDescriptorSetSchema, set))[0]?.symbols).toEqual(['E'])
  })
})

const symbolsOf = (file: FileDescriptorProto): string[] => [
  ...file.messageType.flatMap((message) => inMessage(message, file.package)),
  ...file.enumType.flatMap((one) => inEnum(one, file.package)),
  ...file.service.flatMap(({ name, method }) => [name, ...method.map((m) => `${name}.${m.name}`)]).map(within(file)),
]

const within =
  (file: FileDescriptorProto) =>
  (name: string): string =>
    `${file.package}.${name}`

function inMessage(message: DescriptorProto, scope: string): string[] {
  const name = `${scope}.${message.name}`
  const own = [...message.field, ...message.oneofDecl].map((one) => `${name}.${one.name}`)
  const nested = message.nestedType.flatMap((one) => inMessage(one, name))
  return [name, ...own, ...nested, ...message.enumType.flatMap((one) => inEnum(one, name))]
}

const inEnum = (one: EnumDescriptorProto, scope: string): string[] =>
  [one, ...one.value].map(({ name }) => `${scope}.${name}`)
