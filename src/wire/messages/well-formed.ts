import { FaultError, invalid } from '../../base/fault.ts'
import { MessageReader } from './message-reader.ts'

/**
 * The generated decoders are lenient: tag 0 ends a message without a word, a nested message may run over into what
 * follows it, text need not be UTF-8. So what comes from outside is walked over first, by its shape: the type of each
 * field that we know. The others may be anything, as long as they end where they should.
 */
export interface Shape {
  readonly [field: number]: 'number' | 'numbers' | 'text' | 'bytes' | Shape
}

export function decodeWellFormed<T>(codec: Decoder<T>, bytes: Uint8Array, { name, shape }: NamedShape): T {
  walk(new MessageReader(bytes, name), shape)
  try {
    return codec.decode(bytes)
  } catch (error) {
    // What is left to go wrong is a number beyond 2^53.
    throw new FaultError(invalid(`malformed ${name}: ${error instanceof Error ? error.message : error}`).fault, error)
  }
}

export interface NamedShape {
  readonly name: string
  readonly shape: Shape
}

interface Decoder<T> {
  decode(bytes: Uint8Array): T
}

function walk(reader: MessageReader, shape: Shape): void {
  while (reader.next()) {
    const expected = shape[reader.field]
    if (expected === undefined) reader.skip()
    else if (expected === 'number') reader.int32()
    else if (expected === 'numbers') reader.int32s()
    else if (expected === 'text') reader.skipText()
    else if (expected === 'bytes') reader.view()
    else {
      const outer = reader.enter()
      walk(reader, expected)
      reader.leave(outer)
    }
  }
}
