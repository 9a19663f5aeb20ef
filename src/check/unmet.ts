import { GrpcError, STATUS_NAMES, type StatusCode } from '../grpc/status.ts'

/** Thrown by a check when the server does not behave as required. */
export class Unmet extends Error {
  override readonly name = 'Unmet'
  readonly expected: string
  readonly seen: string

  constructor(expected: string, seen: string) {
    super(`expected ${expected}, saw ${seen}`)
    this.expected = expected
    this.seen = seen
  }
}

/** Thrown by a check when it finds that the server does not offer the feature. */
export class NotOffered extends Error {
  override readonly name = 'NotOffered'
}

export function ensure(condition: boolean, expected: string, seen: string): asserts condition {
  if (!condition) throw new Unmet(expected, seen)
}

export function same<T extends string | number | boolean>(what: string, seen: T, expected: T): void {
  ensure(seen === expected, `${what} ${expected}`, `${what} ${seen}`)
}

/** Reports the first offset at which two byte strings differ, not their content. */
export function sameBytes(what: string, seen: Uint8Array, expected: Uint8Array): void {
  ensure(seen.length === expected.length, `${what}: ${expected.length} bytes`, `${seen.length} bytes`)
  const at = expected.findIndex((byte, index) => seen[index] !== byte)
  ensure(at < 0, `${what}: the bytes that were uploaded`, `other bytes from offset ${at} on`)
}

/** The call must end with one of these codes. */
export async function expectRefusal(what: string, codes: StatusCode | readonly StatusCode[], call: Promise<unknown>) {
  const wanted = [codes].flat()
  // A long list is for checks that accept many codes.
  const names = wanted.map((code) => STATUS_NAMES[code]).join(' or ')
  const expected = `${what} to ${wanted.length > 3 ? 'be refused' : `end with ${names}`}`
  const ending = await call.then(
    () => 'OK',
    (error: unknown) => error,
  )
  if (ending === 'OK') throw new Unmet(expected, 'OK')
  if (!(ending instanceof GrpcError)) throw ending
  ensure(wanted.includes(ending.code), expected, statusText(ending))
}

/** Each item of a batch has its own status. */
export function sameStatus(what: string, code: number | undefined, wanted: StatusCode | readonly StatusCode[]): void {
  const codes = [wanted].flat()
  const names = codes.map((each) => STATUS_NAMES[each]).join(' or ')
  ensure(
    codes.some((each) => each === (code ?? 0)),
    `${what} with status ${names}`,
    STATUS_NAMES[code ?? 0] ?? `${code}`,
  )
}

export const statusText = ({ code, message }: GrpcError): string =>
  `${STATUS_NAMES[code]}${message === '' ? '' : `: ${message.slice(0, 300)}`}`
