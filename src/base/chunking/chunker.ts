/**
 * Content-defined chunking of byte streams, one stream after another. Cuts are the ends of chunks as offsets in the
 * stream, ascending; they do not depend on how the stream is divided into pushes.
 */
export interface Chunker {
  /** Answers the cuts that these bytes settled. The bytes may be reused when this returns. */
  push(bytes: Uint8Array): readonly number[]
  /**
   * Ends the stream and returns the remaining cuts. The last cut is the length of the stream (no cut if the stream is
   * empty).
   */
  finish(): readonly number[]
}

/** Parameters are checked and tables made once; chunkers are then cheap. */
export type NewChunker = () => Chunker
