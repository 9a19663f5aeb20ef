import type { Digest } from './digest.ts'

/**
 * An error of the grid, named after the action that the caller should take. There are nine kinds: where a protocol
 * distinguishes more, the kind has a `why`, and the map of each door is total over both. Data that was corrupted on our
 * disks is a bug with its own why: callers treat it like any bug (retrying does not help), operators do not.
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
  | { readonly kind: 'unavailable'; readonly what: string } // our failure, temporary; retry
  | { readonly kind: 'cancelled'; readonly what: string } // the caller cancelled
  | { readonly kind: 'late'; readonly what: string } // the caller's time was up
  | { readonly kind: 'bug'; readonly what: string; readonly why?: BugWhy } // our failure, permanent

/** Past the end of what is there; a thing we do not do; a thing that is there already. */
export type InvalidWhy = 'range' | 'unsupported' | 'exists'
/** The caller is not authenticated, as opposed to not authorised. */
export type DeniedWhy = 'unknown-caller'
/** A limit of the whole server (queue, disk), as opposed to a limit per caller. */
export type ExhaustedWhy = 'queue' | 'disk'
/** The stored bytes are lost, not only this response. */
export type BugWhy = 'data-loss'

/** Carries a fault to a door, which encodes it in its protocol. Any other exception is a bug. */
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
