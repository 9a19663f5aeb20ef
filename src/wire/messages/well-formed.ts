import { FaultError, invalid } from '../../base/fault.ts'
import { MessageReader } from './message-reader.ts'

/**
 * The generated decoders are lenient: tag 0 ends a message without an error, a nested message may extend beyond its
 * parent, text need not be UTF-8. So a message from outside is validated first against its shape: the type of each
 * known field. Unknown fields may have any type, as long as they end within the message.
 */
export interface Shape {
  readonly [field: number]: 'number' | 'int64' | 'numbers' | 'text' | 'bytes' | 'time' | Shape
}

/** Throws `invalid` for a message that is not of this shape. */
export const mustHaveShape = (bytes: Uint8Array, { name, shape }: NamedShape): void =>
  walk(new MessageReader(bytes, name), shape)

export function decodeWellFormed<T>(codec: Decoder<T>, bytes: Uint8Array, named: NamedShape): T {
  mustHaveShape(bytes, named)
  try {
    return codec.decode(bytes)
  } catch (error) {
    // The only error left is a number beyond 2^53.
    throw new FaultError(
      invalid(`malformed ${named.name}: ${error instanceof Error ? error.message : error}`).fault,
      error,
    )
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
    else if (expected === 'int64') reader.int64()
    else if (expected === 'numbers') reader.int32s()
    else if (expected === 'text') reader.skipText()
    else if (expected === 'bytes') reader.view()
    else if (expected === 'time') reader.time()
    else {
      const outer = reader.enter()
      walk(reader, expected)
      reader.leave(outer)
    }
  }
}
