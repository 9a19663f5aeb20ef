import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/**
 * Reads the parts of a google.protobuf.FileDescriptorSet that reflection needs: the symbols and the imports of each
 * file. This reader is hand-written because the library's descriptor types take longer to load than the rest of the
 * server. The tests compare it with the library.
 */
export interface DescribedFile {
  readonly name: string
  readonly imports: readonly string[]
  /** All fully qualified names, from services down to fields and enum values. */
  readonly symbols: readonly string[]
  readonly extensions: readonly DescribedExtension[]
  /** The file's serialised google.protobuf.FileDescriptorProto, which reflection sends unchanged. */
  readonly bytes: Uint8Array
}

export interface DescribedExtension {
  /** Fully qualified name of the message that is extended. */
  readonly extendee: string
  readonly number: number
}

/** Field numbers of google/protobuf/descriptor.proto. The name is 1 everywhere. */
const NAME = 1
const SET = { file: 1 } as const
const FILE = { package: 2, import: 3, message: 4, enum: 5, service: 6, extension: 7 } as const
const MESSAGE = { field: 2, nested: 3, enum: 4, extension: 6, oneof: 8 } as const
const ENUM = { value: 2 } as const
const SERVICE = { method: 2 } as const
const FIELD = { extendee: 2, number: 3 } as const

export const readDescriptors = (set: Uint8Array): DescribedFile[] => fieldsOf(set).all(SET.file).map(readFile)

function readFile(bytes: Uint8Array): DescribedFile {
  const file = fieldsOf(bytes)
  const scope = file.text(FILE.package)
  const found: Found = { symbols: [], extensions: [] }
  for (const message of file.all(FILE.message)) addMessage(message, scope, found)
  for (const one of file.all(FILE.enum)) addEnum(one, scope, found)
  for (const extension of file.all(FILE.extension)) addExtension(extension, scope, found)
  for (const service of file.all(FILE.service)) {
    const name = addSymbol(service, scope, found)
    for (const method of fieldsOf(service).all(SERVICE.method)) addSymbol(method, name, found)
  }
  return { name: file.text(NAME), imports: file.all(FILE.import).map(textOf), ...found, bytes }
}

interface Found {
  readonly symbols: string[]
  readonly extensions: DescribedExtension[]
}

function addMessage(bytes: Uint8Array, scope: string, found: Found): void {
  const name = addSymbol(bytes, scope, found)
  const message = fieldsOf(bytes)
  for (const field of message.all(MESSAGE.field)) addSymbol(field, name, found)
  for (const oneof of message.all(MESSAGE.oneof)) addSymbol(oneof, name, found)
  for (const one of message.all(MESSAGE.enum)) addEnum(one, name, found)
  for (const extension of message.all(MESSAGE.extension)) addExtension(extension, name, found)
  for (const nested of message.all(MESSAGE.nested)) addMessage(nested, name, found)
}

/** Values of an enum are named as its siblings, not as its children: protobuf scopes them as C++ does. */
function addEnum(bytes: Uint8Array, scope: string, found: Found): void {
  addSymbol(bytes, scope, found)
  for (const value of fieldsOf(bytes).all(ENUM.value)) addSymbol(value, scope, found)
}

function addExtension(bytes: Uint8Array, scope: string, found: Found): void {
  addSymbol(bytes, scope, found)
  const extension = fieldsOf(bytes)
  const extendee = extension.text(FIELD.extendee).replace(/^\./, '')
  found.extensions.push({ extendee, number: extension.number(FIELD.number) })
}

function addSymbol(bytes: Uint8Array, scope: string, found: Found): string {
  const name = fieldsOf(bytes).text(NAME)
  const symbol = scope === '' ? name : `${scope}.${name}`
  found.symbols.push(symbol)
  return symbol
}

interface Fields {
  all(field: number): readonly Uint8Array[]
  text(field: number): string
  number(field: number): number
}

function fieldsOf(message: Uint8Array): Fields {
  const chunks = new Map<number, Uint8Array[]>()
  const numbers = new Map<number, number>()
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (wireType === WireType.Varint) numbers.set(field, Number(reader.int64()))
    else if (wireType === WireType.LengthDelimited) append(chunks, field, reader.bytes())
    else reader.skip(wireType, field)
  }
  return {
    all: (field) => chunks.get(field) ?? [],
    text: (field) => textOf(chunks.get(field)?.at(-1) ?? new Uint8Array()),
    number: (field) => numbers.get(field) ?? 0,
  }
}

function append(chunks: Map<number, Uint8Array[]>, field: number, chunk: Uint8Array): void {
  const present = chunks.get(field)
  if (present) present.push(chunk)
  else chunks.set(field, [chunk])
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
