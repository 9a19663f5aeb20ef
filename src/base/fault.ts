/** What went wrong, named after what the caller should do about it. */
export type Fault =
  | { readonly kind: 'invalid'; readonly what: string } // the caller's words; never retry
  | { readonly kind: 'unavailable'; readonly what: string } // ours, and passing; retry

/** Carries a fault up to a door, where it is told in the door's own words. Anything else that is thrown is a bug. */
export class FaultError extends Error {
  override readonly name = 'FaultError'
  readonly fault: Fault

  constructor(fault: Fault, cause?: unknown) {
    super(fault.what, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}
