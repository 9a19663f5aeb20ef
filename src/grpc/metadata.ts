import { FIELD, type HeaderField } from './hpack/header-field.ts'
import type { MetadataInit } from './status.ts'

/** Received metadata, read from the header list as it came: nothing is copied or decoded before it is asked for. */
export class Metadata {
  readonly #fields: readonly HeaderField[]

  constructor(fields: readonly HeaderField[]) {
    this.#fields = fields
  }

  /** The first value under a lower-case name. */
  get(name: string): string | undefined {
    for (const field of this.#fields) if (field.name === name) return field.value
    return undefined
  }

  /** All values of a -bin name; a peer may join several with commas. Undecodable ones come out empty, as in gRPC. */
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

  /** Everything but pseudo-headers, in the order it came. */
  *entries(): Generator<readonly [string, string]> {
    for (const { name, value } of this.#fields) if (name.charCodeAt(0) !== 58) yield [name, value]
  }
}
