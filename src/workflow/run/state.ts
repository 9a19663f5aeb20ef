import type { CommandLineTool, CwlOperation, ExpressionTool, Scope, Step } from '../process/process.ts'
import type { Version } from '../process/version.ts'
import type { ValueRecord } from '../values/value.ts'

/**
 * Where a run stands. Plain JSON, so that it can be written down and read again; together with the process, it is all
 * that there is to know. It is changed in place: a scatter of ten thousand is not copied at every event.
 */
export interface RunState {
  frame: Frame
  outcome?: StepOutcome
}

export type StepOutcome = { readonly kind: 'done'; readonly outputs: ValueRecord } | Failure

export interface Failure {
  readonly kind: 'failed'
  /** Empty when it is the process itself. */
  readonly path: string
  readonly why: string
  /** Not a mistake: something that we do not do. */
  readonly unsupported?: true
}

/** One workflow under way: the run itself, or a turn of a step that runs a workflow. */
export interface Frame {
  readonly inputs: ValueRecord
  readonly steps: Record<string, StepRunState>
}

export type StepRunState =
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

/** The rounds of a loop that are over. */
export interface Loop {
  readonly inputs: ValueRecord
  readonly rounds: ValueRecord[]
}

/** What has to happen outside before the run can go on. */
export type RunWork =
  /** Find out the input objects of a step; answered by `evaluated`. */
  | {
      readonly kind: 'evaluate'
      readonly path: string
      readonly step: Step
      readonly scope: Scope
      /** Of the workflow that the step belongs to. */
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

/** The last round of a loop. */
export interface Previous {
  readonly inputs: ValueRecord
  readonly outputs: ValueRecord
}

export type RunEvent =
  | {
      readonly kind: 'evaluated'
      readonly path: string
      readonly shape?: readonly number[]
      readonly turns: readonly (ValueRecord | null)[]
    }
  | { readonly kind: 'finished'; readonly path: string; readonly outputs: ValueRecord }
  | Failure
