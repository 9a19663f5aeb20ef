/** Hashes one blob after another, each given in pieces. A blob given up half-way takes its hasher with it. */
export interface Hasher {
  /** The bytes may be reused when this returns. */
  update(bytes: Uint8Array): void
  /** The raw hash of all pieces since the last digest; what is given next belongs to the next blob. */
  digest(): Uint8Array
}
