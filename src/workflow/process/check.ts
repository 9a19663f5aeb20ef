import { invalid } from '../../base/fault.ts'
import { problem, type SourcePlace } from '../values/place.ts'
import { assignable, linkType } from './assignable.ts'
import { arrayOf, type CwlType, mayBeNull, primitive, typeText, unionOf } from './cwl-type.ts'
import type { Process, Scope, Sink, Step, StepInput, Workflow } from './process.ts'
import { isRequired, NO_SCOPE, within } from './requirement.ts'

/** Checks a process for errors that are detectable before it runs. */
export function checkProcess(process: Process, outer: Scope = NO_SCOPE): void {
  if (process.class !== 'Workflow') return
  const scope = within(outer, process)
  const types = sourceTypes(process)
  for (const step of process.steps) {
    const inside = within(scope, step)
    checkFeatures(step, inside)
    checkStep(step, types)
    checkProcess(step.run, inside)
  }
  for (const output of process.outputs) {
    if (output.sources.length > 1) needs(scope, 'MultipleInputFeatureRequirement', output.at)
    if (output.sources.length > 0)
      checkLink(output, output.type, { types, at: output.at, what: `the output ${output.name}` })
  }
  checkOrder(process)
}

function sourceTypes(workflow: Workflow): ReadonlyMap<string, CwlType> {
  const types = new Map<string, CwlType>(workflow.inputs.map((input) => [input.name, input.type]))
  for (const step of workflow.steps) {
    for (const name of step.outputs) {
      const output = step.run.outputs.find((one) => one.name === name)
      if (output === undefined) {
        throw problem(step.at, `the step ${step.name} has the output ${name}, but what it runs has none of that name`)
      }
      types.set(`${step.name}/${name}`, stepOutputType(step, output.type))
    }
  }
  return types
}

function stepOutputType(step: Step, type: CwlType): CwlType {
  if (step.loop !== undefined)
    return step.outputMethod === 'all_iterations' ? arrayOf(type) : unionOf([primitive('null'), type])
  const each = step.when === undefined ? type : unionOf([primitive('null'), type])
  if (step.scatter.length === 0) return each
  const depth = step.scatterMethod === 'nested_crossproduct' ? step.scatter.length : 1
  return Array.from({ length: depth }).reduce<CwlType>((inner) => arrayOf(inner), each)
}

function needs(scope: Scope, name: string, at: SourcePlace | undefined): void {
  if (isRequired(scope, name)) return
  throw problem(at, `this needs ${name} among the requirements of the workflow or the step`)
}

function checkFeatures(step: Step, scope: Scope): void {
  if (step.run.class === 'Workflow') needs(scope, 'SubworkflowFeatureRequirement', step.at)
  if (step.scatter.length > 0) needs(scope, 'ScatterFeatureRequirement', step.at)
  for (const input of [...step.inputs, ...(step.loop ?? [])]) {
    if (input.valueFrom !== undefined) needs(scope, 'StepInputExpressionRequirement', input.at)
    if (input.sources.length > 1) needs(scope, 'MultipleInputFeatureRequirement', input.at)
  }
}

function checkStep(step: Step, types: ReadonlyMap<string, CwlType>): void {
  for (const name of step.scatter) {
    if (!step.inputs.some((one) => one.name === name)) {
      throw problem(step.at, `the step ${step.name} scatters over ${name}, which is not among its inputs`)
    }
  }
  for (const input of step.run.inputs) {
    const given = step.inputs.find((one) => one.name === input.name)
    const isGiven =
      given !== undefined && (given.sources.length > 0 || given.default !== undefined || given.valueFrom !== undefined)
    if (!isGiven && input.default === undefined && !mayBeNull(input.type)) {
      throw problem(given?.at ?? step.at, `the step ${step.name} must give ${input.name}, for what it runs needs it`)
    }
    if (given !== undefined) checkStepInput(step, given, { type: input.type, types })
  }
}

function checkStepInput(
  step: Step,
  input: StepInput,
  { type, types }: { type: CwlType; types: ReadonlyMap<string, CwlType> },
): void {
  if (input.sources.length === 0 || input.valueFrom !== undefined) return
  const sink = step.scatter.includes(input.name) ? arrayOf(type) : type
  checkLink(input, sink, { types, at: input.at, what: `${input.name} of the step ${step.name}` })
}

interface Checking {
  readonly types: ReadonlyMap<string, CwlType>
  readonly at: SourcePlace | undefined
  readonly what: string
}

function checkLink(link: Sink, sink: CwlType, { types, at, what }: Checking): void {
  const sources = link.sources.map((name) => {
    const type = types.get(name)
    if (type === undefined) throw invalid(`nothing is called ${name}`)
    return type
  })
  const source = linkType(sources, link)
  if (assignable(source, sink)) return
  throw problem(at, `${what} takes ${typeText(sink)}, but ${link.sources.join(' and ')} gives ${typeText(source)}`)
}

/** Throws for steps that wait for each other: they would wait forever. */
function checkOrder(workflow: Workflow): void {
  const waits = new Map(
    workflow.steps.map((step) => [step.name, new Set(step.inputs.flatMap((one) => one.sources.flatMap(stepOfSource)))]),
  )
  while (waits.size > 0) {
    const free = [...waits].filter(([, others]) => [...others].every((one) => !waits.has(one)))
    if (free.length === 0)
      throw problem(workflow.at, `these steps wait for each other: ${[...waits.keys()].join(', ')}`)
    for (const [name] of free) waits.delete(name)
  }
}

const stepOfSource = (source: string): readonly string[] =>
  source.includes('/') ? [source.slice(0, source.indexOf('/'))] : []
