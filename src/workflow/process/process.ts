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

/** The requirements and hints that apply to a process, including those of enclosing processes. */
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
  /** Ontologies that define which format is a subclass of which. */
  readonly schemas: readonly string[]
  /** Prefixes of addresses, which also apply to the input object. */
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

/** CWL's Operation: has inputs and outputs and cannot be run. */
export interface CwlOperation extends Common {
  readonly class: 'Operation'
  readonly outputs: readonly OutputParameter[]
}

export type LinkMerge = 'merge_nested' | 'merge_flattened'
export type PickValue = 'first_non_null' | 'the_only_non_null' | 'all_non_null'

/** The sources of a value: `input` or `step/output`; in loops, an output of the step itself. */
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
