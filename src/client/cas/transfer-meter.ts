/** Hears how far a transfer is. */
export interface TransferMeter {
  /** So much more is to be looked at. */
  found(blobs: number, bytes: number): void
  /** Went over the wire. */
  moved(blobs: number, bytes: number): void
  /** Was where it should be already. */
  held(blobs: number, bytes: number): void
}
