import { FIELD, type HeaderField, type HeaderList } from '../hpack/header-field.ts'

/** The head of a request, checked once against RFC 9113, section 8.3, and stored with its header list. */
export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly authority: string
  readonly contentType: string
  readonly timeout: string | undefined
  readonly encoding: string | undefined
  /** -1 without a content-length. */
  readonly contentLength: number
  readonly fields: readonly HeaderField[]
  /** The route of this path, which the server caches here. */
  route: unknown
}

/** Returns undefined when the request is malformed: the stream then ends with PROTOCOL_ERROR. */
export function understandRequest(list: HeaderList): RequestHead | undefined {
  if (list.understood !== undefined) return list.understood as RequestHead
  const head = readHead(list.fields)
  if (head !== undefined) list.understood = head
  return head
}

function readHead(fields: readonly HeaderField[]): RequestHead | undefined {
  let method: string | undefined
  let scheme: string | undefined
  let path: string | undefined
  let authority: string | undefined
  let contentType = ''
  let timeout: string | undefined
  let encoding: string | undefined
  let contentLength = -1
  let pseudoOver = false
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as HeaderField
    const kind = field.kind
    if (kind >= FIELD.method && kind <= FIELD.status) {
      if (pseudoOver) return undefined
      if (kind === FIELD.path && path === undefined) path = field.value
      else if (kind === FIELD.method && method === undefined) method = field.value
      else if (kind === FIELD.scheme && scheme === undefined) scheme = field.value
      else if (kind === FIELD.authority && authority === undefined) authority = field.value
      else return undefined
      continue
    }
    pseudoOver = true
    switch (kind) {
      case FIELD.malformed:
        return undefined
      case FIELD.contentType:
        contentType = field.value
        break
      case FIELD.grpcTimeout:
        timeout = field.value
        break
      case FIELD.grpcEncoding:
        encoding = field.value
        break
      case FIELD.contentLength: {
        const length = Number(field.value)
        if (contentLength >= 0 && contentLength !== length) return undefined
        contentLength = length
        break
      }
    }
  }
  if (method === undefined || scheme === undefined || path === undefined || path === '') return undefined
  authority ??= ''
  return { method, path, authority, contentType, timeout, encoding, contentLength, fields, route: undefined }
}

/** Trailers must have no pseudo-headers and no malformed fields. */
export const areTrailersSound = (list: HeaderList): boolean =>
  list.fields.every((field) => field.kind === FIELD.regular || field.kind > FIELD.status) &&
  list.fields.every((field) => field.kind !== FIELD.malformed)

/** The status of a response, or undefined when its head is malformed. */
export function responseStatus(list: HeaderList): number | undefined {
  let status: number | undefined
  for (const field of list.fields) {
    // Some servers end a message with a blank. Their status is still accepted, so only malformed pseudo-headers count.
    if (field.kind === FIELD.malformed && field.name.startsWith(':')) return undefined
    if (field.kind < FIELD.method || field.kind > FIELD.status) continue
    if (field.kind !== FIELD.status || status !== undefined) return undefined
    status = Number(field.value)
  }
  return status
}
