/** A header block that cannot be decoded. The tables of both ends no longer agree, so the connection must be closed. */
export class HpackError extends Error {
  override readonly name = 'HpackError'
}
