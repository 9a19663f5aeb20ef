/** A moment to the nanosecond: file times are compared exactly, and a millisecond is too coarse for them. */
export interface Timestamp {
  /** Since 1970, negative before. */
  readonly seconds: number
  /** 0 to 999,999,999, counted forward. */
  readonly nanos: number
}
