/**
 * One header field, as the other modules see it.
 *
 * Fields are shared: an entry of the static or dynamic table is one object for all header blocks that refer to it. So
 * the properties of a name (is it a pseudo-header, is it allowed in a request) are determined once, when the field is
 * first read, and not once per call.
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

/** A decoded header block. Lists from the decoder's cache are shared between calls and must not be modified. */
export interface HeaderList {
  readonly fields: readonly HeaderField[]
  /** The sum of name + value + 32 over all fields, as defined for SETTINGS_MAX_HEADER_LIST_SIZE. */
  readonly bytes: number
  /**
   * The list exceeds the limit, and `fields` is incomplete. The whole block was still read to keep the table correct.
   */
  readonly overflowed: boolean
  /** The reader's interpretation of this list, cached so that a repeated list is interpreted once. */
  understood: unknown
}
