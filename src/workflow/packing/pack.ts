import type { InputBinding, OutputBinding } from '../process/cwl-type.ts'
import type {
  InputParameter,
  OutputParameter,
  Process,
  Requirement,
  Sink,
  Step,
  StepInput,
  Workflow,
} from '../process/process.ts'
import { type Version, versionText } from '../process/version.ts'
import type { Value, ValueRecord } from '../values/value.ts'
import { packData, packInputBinding, packOutputBinding, packType } from './pack-type.ts'

/**
 * Writes a process with everything that it references as one document: processes are embedded in their steps, named
 * types are expanded, and every location is absolute. Loading it again gives the same process.
 */
export function packProcess(process: Process): ValueRecord {
  const schemas = [...new Set(schemasOf(process))]
  return {
    cwlVersion: versionWord(versionOf(process)),
    ...(schemas.length === 0 ? {} : { $schemas: schemas }),
    ...(Object.keys(process.namespaces).length === 0 ? {} : { $namespaces: process.namespaces }),
    ...body(process),
  }
}

/** Loops exist only in the draft of v1.3, which has its own version name. */
const versionWord = (version: Version): string => (version === 13 ? 'v1.3.0-dev1' : versionText(version))

const versionOf = (process: Process): Version =>
  process.class === 'Workflow' && process.steps.some((step) => step.loop !== undefined) ? 13 : process.version

const schemasOf = (process: Process): readonly string[] =>
  process.class === 'Workflow'
    ? [...process.schemas, ...process.steps.flatMap((step) => schemasOf(step.run))]
    : process.schemas

function body(process: Process): ValueRecord {
  const common = {
    class: process.class,
    ...(process.label === undefined ? {} : { label: process.label }),
    ...requirements(process),
    inputs: process.inputs.map((input) => packInput(input, process)),
  }
  if (process.class === 'Workflow')
    return {
      ...common,
      outputs: packWorkflowOutputs(process),
      steps: process.steps.map((step) => packStep(step, process)),
    }
  const outputs = process.outputs.map((output) => packOutput(output, output.binding))
  if (process.class === 'Operation') return { ...common, outputs }
  if (process.class === 'ExpressionTool') return { ...common, outputs, expression: process.expression }
  return {
    ...common,
    outputs,
    baseCommand: process.baseCommand,
    arguments: process.arguments.map((one) => (typeof one === 'string' ? one : packInputBinding(one))),
    ...(process.stdin === undefined ? {} : { stdin: process.stdin }),
    ...(process.stdout === undefined ? {} : { stdout: process.stdout }),
    ...(process.stderr === undefined ? {} : { stderr: process.stderr }),
    successCodes: process.successCodes,
    temporaryFailCodes: process.temporaryFailCodes,
    permanentFailCodes: process.permanentFailCodes,
  }
}

/** Named types are not needed, because they are expanded. */
function requirements({
  requirements: required,
  hints,
}: {
  requirements: readonly Requirement[]
  hints: readonly Requirement[]
}): ValueRecord {
  const kept = (all: readonly Requirement[]): readonly Value[] =>
    all.filter((one) => one.class !== 'SchemaDefRequirement')
  return { requirements: kept(required), hints: kept(hints) }
}

function packInput(input: InputParameter, { version }: Process): ValueRecord {
  // In v1.0 only a binding could request contents.
  const inBinding = version < 11 && input.loadContents
  return {
    id: input.name,
    type: packType(input.type),
    ...packData(input),
    ...(input.loadContents && !inBinding ? { loadContents: true } : {}),
    ...(input.loadListing === undefined ? {} : { loadListing: input.loadListing }),
    ...(input.default === undefined ? {} : { default: input.default }),
    ...bindingOf(input.binding, inBinding),
  }
}

const bindingOf = (binding: InputBinding | undefined, loadContents: boolean): ValueRecord =>
  binding === undefined
    ? {}
    : { inputBinding: { ...packInputBinding(binding), ...(loadContents ? { loadContents } : {}) } }

const packOutput = (output: OutputParameter, binding: OutputBinding | undefined): ValueRecord => ({
  id: output.name,
  type: packType(output.type),
  ...packData(output),
  ...(binding === undefined ? {} : { outputBinding: packOutputBinding(binding) }),
})

const packWorkflowOutputs = ({ outputs }: Workflow): readonly ValueRecord[] =>
  outputs.map((output) => ({ ...packOutput(output, undefined), ...packSink(output, 'outputSource') }))

const packSink = ({ sources, linkMerge, pickValue }: Sink, key: 'source' | 'outputSource'): ValueRecord => ({
  ...(sources.length === 0 ? {} : { [key]: sources.length === 1 ? (sources[0] ?? null) : sources }),
  ...(linkMerge === undefined ? {} : { linkMerge }),
  ...(pickValue === undefined ? {} : { pickValue }),
})

const packStepInput = (input: StepInput, key: 'source' | 'outputSource'): ValueRecord => ({
  id: input.name,
  ...packSink(input, key),
  ...(input.default === undefined ? {} : { default: input.default }),
  ...(input.valueFrom === undefined ? {} : { valueFrom: input.valueFrom }),
  ...(input.loadContents ? { loadContents: true } : {}),
  ...(input.loadListing === undefined ? {} : { loadListing: input.loadListing }),
})

function packStep(step: Step, workflow: Workflow): ValueRecord {
  const version = versionOf(step.run)
  const isForeign = version !== versionOf(workflow)
  return {
    id: step.name,
    ...(step.label === undefined ? {} : { label: step.label }),
    ...requirements(step),
    in: step.inputs.map((input) => packStepInput(input, 'source')),
    out: step.outputs,
    ...(step.when === undefined ? {} : { when: step.when }),
    ...(step.scatter.length === 0 ? {} : { scatter: step.scatter, scatterMethod: step.scatterMethod }),
    ...(step.loop === undefined
      ? {}
      : { loop: step.loop.map((input) => packStepInput(input, 'outputSource')), outputMethod: step.outputMethod }),
    run: { ...(isForeign ? { cwlVersion: versionWord(version) } : {}), ...body(step.run) },
  }
}
