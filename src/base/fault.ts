import type { Digest } from './digest.ts'

/**
 * What went wrong, named after what the caller should do about it. Nine kinds and no more: where a protocol has a finer
 * word, the kind carries a `why` and each door's map is total over both. Data that went bad on our disks is a bug with
 * its own why: to the caller it is the same (ours, and asking again does not help), to the operator it is not.
 */
export type Fault =
  | { readonly kind: 'invalid'; readonly what: string; readonly why?: InvalidWhy } // the caller's words; never retry
  | { readonly kind: 'denied'; readonly what: string; readonly why?: DeniedWhy } // ask someone for the right to
  | { readonly kind: 'absent'; readonly what: string } // nothing has that name
  | { readonly kind: 'missing'; readonly digests: readonly Digest[] } // upload these, then ask again
  | {
      readonly kind: 'exhausted' // come back later
      readonly resource: string
      readonly retryAfterMs: number
      readonly why?: ExhaustedWhy
    }
  | { readonly kind: 'unavailable'; readonly what: string } // ours, and passing; retry
  | { readonly kind: 'cancelled'; readonly what: string } // the caller's own wish
  | { readonly kind: 'late'; readonly what: string } // the caller's time was up
  | { readonly kind: 'bug'; readonly what: string; readonly why?: BugWhy } // ours, and not passing

/** Past the end of what is there; a thing we do not do; a thing that is there already. */
export type InvalidWhy = 'range' | 'unsupported' | 'exists'
/** We do not know who asks, as opposed to knowing that they may not. */
export type DeniedWhy = 'unknown-caller'
/** The queue is full for everybody, or the disk is; as opposed to what one caller may have of something. */
export type ExhaustedWhy = 'queue' | 'disk'
/** The bytes are gone, not just the answer. */
export type BugWhy = 'data-loss'

/** Carries a fault up to a door, where it is told in the door's own words. Anything else that is thrown is a bug. */
export class FaultError extends Error {
  override readonly name = 'FaultError'
  readonly fault: Fault

  constructor(fault: Fault, cause?: unknown) {
    super(wordsFor(fault), cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}

function wordsFor(fault: Fault): string {
  if (fault.kind === 'exhausted') return `${fault.resource} is exhausted; retry in ${fault.retryAfterMs} ms`
  if (fault.kind !== 'missing') return fault.what
  const [first] = fault.digests
  const named = first === undefined ? '' : `: ${first.hash}/${first.size}`
  return fault.digests.length > 1
    ? `${fault.digests.length} blobs are missing, the first${named}`
    : `missing blob${named}`
}

/** The most common fault by far: something in the caller's words is wrong. */
export const invalid = (what: string, why?: InvalidWhy): FaultError =>
  new FaultError(why === undefined ? { kind: 'invalid', what } : { kind: 'invalid', what, why })
