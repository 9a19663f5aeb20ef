/**
 * One header field as the rest of the engine sees it.
 *
 * Fields are shared: an entry of the static or dynamic table is one object for all header blocks that refer to it,
 * so whatever is worth knowing about a name (is it a pseudo-header, may it stand in a request at all) is found out
 * once, when the field is first read, and not once per call.
 */
export interface HeaderField {
  readonly name: string
  readonly value: string
  readonly kind: FieldKind
}

export const FIELD = {
  regular: 0,
  method: 1,
  scheme: 2,
  path: 3,
  authority: 4,
  status: 5,
  contentType: 6,
  contentLength: 7,
  te: 8,
  grpcTimeout: 9,
  grpcEncoding: 10,
  grpcStatus: 11,
  grpcMessage: 12,
  /** Illegal in HTTP/2: connection-specific fields, upper case, unknown pseudo-headers, control characters. */
  malformed: 15,
} as const

export type FieldKind = (typeof FIELD)[keyof typeof FIELD]

/** A decoded header block. Lists that come from the decoder's cache are shared between calls: never change one. */
export interface HeaderList {
  readonly fields: readonly HeaderField[]
  /** Sum of name + value + 32 over all fields, as SETTINGS_MAX_HEADER_LIST_SIZE counts it. */
  readonly bytes: number
  /** The list passed the limit: `fields` is cut there, though the whole block was read to keep the table in step. */
  readonly overflowed: boolean
  /** A place for the reader to keep what it made of this list: cached lists are then understood only once. */
  understood: unknown
}
