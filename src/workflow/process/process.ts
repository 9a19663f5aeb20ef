import type { SourcePlace } from '../values/place.ts'
import type { Value, ValueRecord } from '../values/value.ts'
import type { CwlType, DataRules, InputBinding, Listing, OutputBinding } from './cwl-type.ts'
import type { Version } from './version.ts'

export interface InputParameter extends DataRules {
  readonly name: string
  readonly type: CwlType
  readonly default?: Value
  readonly binding?: InputBinding
  readonly at?: SourcePlace
}

export interface OutputParameter extends DataRules {
  readonly name: string
  readonly type: CwlType
  readonly binding?: OutputBinding
  readonly at?: SourcePlace
}

export interface Requirement extends ValueRecord {
  readonly class: string
}

/** What requirements and hints are in force somewhere, after those around it were taken into account. */
export interface Scope {
  readonly requirements: readonly Requirement[]
  readonly hints: readonly Requirement[]
}

interface Common extends Scope {
  /** The address of the document, and the fragment if it has one. */
  readonly id: string
  readonly version: Version
  readonly label?: string
  readonly inputs: readonly InputParameter[]
  /** Ontologies that say which format is a kind of which. */
  readonly schemas: readonly string[]
  /** Prefixes that stand for addresses, also in the input object. */
  readonly namespaces: Readonly<Record<string, string>>
  readonly at?: SourcePlace
}

export interface CommandLineTool extends Common {
  readonly class: 'CommandLineTool'
  readonly outputs: readonly OutputParameter[]
  readonly baseCommand: readonly string[]
  readonly arguments: readonly (string | InputBinding)[]
  readonly stdin?: string
  readonly stdout?: string
  readonly stderr?: string
  readonly successCodes: readonly number[]
  readonly temporaryFailCodes: readonly number[]
  readonly permanentFailCodes: readonly number[]
}

export interface ExpressionTool extends Common {
  readonly class: 'ExpressionTool'
  readonly outputs: readonly OutputParameter[]
  readonly expression: string
}

/** Has inputs and outputs and nothing that could run: part of a plan, not of a run. */
export interface CwlOperation extends Common {
  readonly class: 'Operation'
  readonly outputs: readonly OutputParameter[]
}

export type LinkMerge = 'merge_nested' | 'merge_flattened'
export type PickValue = 'first_non_null' | 'the_only_non_null' | 'all_non_null'

/** Where a value comes from: `input`, or `step/output`; in loops, an output of the step itself. */
export interface Sink {
  readonly sources: readonly string[]
  readonly linkMerge?: LinkMerge
  readonly pickValue?: PickValue
}

export interface WorkflowOutput extends OutputParameter, Sink {}

export interface StepInput extends Sink {
  readonly name: string
  readonly default?: Value
  readonly valueFrom?: string
  readonly loadContents: boolean
  readonly loadListing?: Listing
  readonly at?: SourcePlace
}

export type ScatterMethod = 'dotproduct' | 'nested_crossproduct' | 'flat_crossproduct'

export interface Step extends Scope {
  readonly name: string
  readonly label?: string
  readonly inputs: readonly StepInput[]
  readonly outputs: readonly string[]
  readonly run: Process
  readonly when?: string
  readonly scatter: readonly string[]
  readonly scatterMethod: ScatterMethod
  readonly loop?: readonly StepInput[]
  readonly outputMethod: 'last_iteration' | 'all_iterations'
  readonly at?: SourcePlace
}

export interface Workflow extends Common {
  readonly class: 'Workflow'
  readonly outputs: readonly WorkflowOutput[]
  readonly steps: readonly Step[]
}

export type Process = CommandLineTool | ExpressionTool | CwlOperation | Workflow
