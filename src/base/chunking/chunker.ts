/**
 * Cuts streams of bytes where their content says so, one stream after another. Cuts are the ends of chunks, counted
 * from the start of the stream, ascending; how a stream is divided into pushes does not change them.
 */
export interface Chunker {
  /** Answers the cuts that these bytes settled. The bytes may be reused when this returns. */
  push(bytes: Uint8Array): readonly number[]
  /** Ends the stream: answers the cuts still open, the last of them the stream's length (none if it was empty). */
  finish(): readonly number[]
}

/** Parameters are checked and tables made once; chunkers are then cheap. */
export type NewChunker = () => Chunker
