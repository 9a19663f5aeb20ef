/** A header block that cannot be decoded: the tables of the two ends no longer agree, so the connection must end. */
export class HpackError extends Error {
  override readonly name = 'HpackError'
}
