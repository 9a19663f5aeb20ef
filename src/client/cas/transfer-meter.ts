/** Gets the progress of a transfer. */
export interface TransferMeter {
  /** Adds to the bytes and blobs to check. */
  found(blobs: number, bytes: number): void
  /** Went over the wire. */
  moved(blobs: number, bytes: number): void
  /** Was where it should be already. */
  held(blobs: number, bytes: number): void
}
