import type { Digest } from '../../../base/digest.ts'
import type { Fault } from '../../../base/fault.ts'
import type { StagedNode } from '../../../stagers/stager.ts'
import type { StepOutcome } from '../../../workflow/run/state.ts'
import type { StepEnded, WorkflowRun } from './run-workflow.ts'
import type { StepTask } from './step-grid.ts'

/** Messages to a driver thread. */
export type ToDriverThread =
  | { readonly kind: 'run'; readonly run: WorkflowRun }
  | { readonly kind: 'cancel'; readonly submission: string }
  | { readonly kind: 'answer'; readonly question: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly question: number; readonly fault: Fault }

/** Messages of a driver thread. */
export type FromDriverThread =
  | { readonly kind: 'question'; readonly question: number; readonly submission: string; readonly ask: DriverQuestion }
  | { readonly kind: 'ended'; readonly submission: string; readonly end: StepEnded }
  | { readonly kind: 'over'; readonly submission: string; readonly outcome: StepOutcome }
  | { readonly kind: 'broken'; readonly submission: string; readonly what: string }

export type DriverQuestion =
  | { readonly what: 'has'; readonly digest: Digest }
  | { readonly what: 'read'; readonly digest: Digest; readonly limit: number }
  | { readonly what: 'put'; readonly digest: Digest; readonly bytes: Uint8Array }
  /** `find` and `put` of the server's stagers, for locations outside the blob store. */
  | { readonly what: 'find'; readonly location: string }
  | { readonly what: 'stage-out'; readonly node: StagedNode; readonly to: string }
  | { readonly what: 'step'; readonly step: StepTask }
  | { readonly what: 'images'; readonly inPlaces: boolean }
