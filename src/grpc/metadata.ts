import { FIELD, type HeaderField } from './hpack/header-field.ts'
import type { MetadataInit } from './status.ts'

/** Received metadata, read from the header list: nothing is copied or decoded before it is requested. */
export class Metadata {
  readonly #fields: readonly HeaderField[]

  constructor(fields: readonly HeaderField[]) {
    this.#fields = fields
  }

  /** Returns the first value of a lower-case name. */
  get(name: string): string | undefined {
    for (const field of this.#fields) if (field.name === name) return field.value
    return undefined
  }

  /**
   * Returns all values of a -bin name; a peer may join several with commas. Undecodable values are empty, as in gRPC.
   */
  getBinary(name: string): Uint8Array[] {
    const values: Uint8Array[] = []
    for (const field of this.#fields) {
      if (field.name !== name) continue
      for (const part of field.value.split(',')) values.push(Buffer.from(part, 'base64'))
    }
    return values
  }

  /** The application's metadata in a form that can be sent again, without protocol headers. */
  toInit(): MetadataInit {
    const init: Record<string, (string | Uint8Array)[]> = {}
    for (const { name, value, kind } of this.#fields) {
      if (kind !== FIELD.regular || name.startsWith('grpc-')) continue
      const values = name.endsWith('-bin') ? value.split(',').map((part) => Buffer.from(part, 'base64')) : [value]
      init[name] = [...(init[name] ?? []), ...values]
    }
    return init
  }

  /** Yields all fields but pseudo-headers, in the order of the header list. */
  *entries(): Generator<readonly [string, string]> {
    for (const { name, value } of this.#fields) if (name.charCodeAt(0) !== 58) yield [name, value]
  }
}
