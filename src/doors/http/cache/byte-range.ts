/** The part of the requested range that the blob has. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i

/**
 * One range (RFC 9110, 14.1.2). Undefined stands for the whole: no range, several, or one that makes no sense may all be
 * answered so. `beyond` is a range of which nothing is there.
 */
export function byteRangeIn(header: string | undefined, size: number): ByteRange | 'beyond' | undefined {
  const parts = ONE_RANGE.exec(header?.trim() ?? '')
  if (parts === null) return undefined
  const [, from, to, suffix] = parts
  if (suffix !== undefined) {
    const count = Math.min(Number(suffix), size)
    return count === 0 ? 'beyond' : { first: size - count, last: size - 1 }
  }
  const first = Number(from)
  const last = to === undefined || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (first >= size) return 'beyond'
  return last < first ? undefined : { first, last }
}
