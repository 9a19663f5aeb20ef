import type { CommandLineTool, CwlOperation, ExpressionTool, Scope, Step } from '../process/process.ts'
import type { Version } from '../process/version.ts'
import type { ValueRecord } from '../values/value.ts'

/**
 * The state of a run. Plain JSON, so that it can be stored and read again; together with the process it is complete. It
 * is mutated in place: a scatter of ten thousand is not copied at every event.
 */
export interface RunState {
  frame: Frame
  outcome?: StepOutcome
}

export type StepOutcome = { readonly kind: 'done'; readonly outputs: ValueRecord } | Failure

export interface Failure {
  readonly kind: 'failed'
  /** Empty for the process itself. */
  readonly path: string
  readonly why: string
  /** The document is valid but uses a feature that is not supported. */
  readonly unsupported?: true
}

/** One running workflow: the run itself, or a step instance that runs a workflow. */
export interface Frame {
  readonly inputs: ValueRecord
  readonly steps: Record<string, StepPhase>
}

export type StepPhase =
  | { readonly phase: 'waiting' }
  | { readonly phase: 'evaluating'; readonly loop?: Loop }
  | {
      readonly phase: 'running'
      readonly shape?: readonly number[]
      readonly turns: TurnState[]
      left: number
      readonly loop?: Loop
    }
  | { readonly phase: 'done'; readonly outputs: ValueRecord }

export type TurnState =
  | { readonly phase: 'running'; readonly inputs: ValueRecord; readonly frame?: Frame }
  | { readonly phase: 'done'; readonly outputs: ValueRecord }

/** The finished iterations of a loop. */
export interface Loop {
  readonly inputs: ValueRecord
  readonly rounds: ValueRecord[]
}

/** Work that the driver must do before the run can continue. */
export type RunWork =
  /** Compute the input objects of a step; answered by `evaluated`. */
  | {
      readonly kind: 'evaluate'
      readonly path: string
      readonly step: Step
      readonly scope: Scope
      /** The inputs of the workflow that the step belongs to. */
      readonly version: Version
      readonly given: ValueRecord
      readonly previous?: Previous
    }
  /** Run a tool; answered by `finished` or `failed`. */
  | {
      readonly kind: 'run'
      readonly path: string
      readonly process: CommandLineTool | ExpressionTool | CwlOperation
      readonly scope: Scope
      readonly inputs: ValueRecord
    }

/** The last iteration of a loop. */
export interface Previous {
  readonly inputs: ValueRecord
  readonly outputs: ValueRecord
}

export type MachineEvent =
  | {
      readonly kind: 'evaluated'
      readonly path: string
      readonly shape?: readonly number[]
      readonly turns: readonly (ValueRecord | null)[]
    }
  | { readonly kind: 'finished'; readonly path: string; readonly outputs: ValueRecord }
  | Failure
