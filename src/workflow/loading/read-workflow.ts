import type {
  LinkMerge,
  OutputParameter,
  PickValue,
  ScatterMethod,
  Sink,
  Step,
  StepInput,
  WorkflowOutput,
} from '../process/process.ts'
import { placeOf, problem } from '../values/place.ts'
import { documentOf, hasScheme, resolveUri, shortName, uriFragment } from '../values/uri.ts'
import { text, type Value, type ValueRecord } from '../values/value.ts'
import { resolveLocations } from './read-default.ts'
import { listingField, textList } from './read-type.ts'

/** The names within a workflow. Sources are converted to `input` and `step/output`. */
export interface LinkNames {
  readonly workflowId: string
  readonly known: ReadonlySet<string>
}

export function linkNames(workflowId: string, inputs: readonly string[], steps: readonly ValueRecord[]): LinkNames {
  const outputs = steps.flatMap((step) =>
    stepOutputs(step).map((output) => `${shortName(text(step.id) ?? '')}/${output}`),
  )
  return { workflowId, known: new Set([...inputs, ...outputs]) }
}

const stepOutputs = (step: ValueRecord): readonly string[] =>
  ((step.out ?? []) as readonly Value[]).map((one) => shortName(text(one) ?? text((one as ValueRecord).id) ?? ''))

function linkName(reference: string, names: LinkNames, node: ValueRecord): string {
  const at = placeOf(node, 'source') ?? placeOf(node, 'outputSource') ?? placeOf(node)
  const whole = reference.includes('#') || hasScheme(reference) ? resolveUri(at?.uri ?? '', reference) : undefined
  const home = uriFragment(names.workflowId)
  let name = reference
  if (whole !== undefined && documentOf(whole) === documentOf(names.workflowId)) {
    const fragment = uriFragment(whole) ?? ''
    name = home !== undefined && fragment.startsWith(`${home}/`) ? fragment.slice(home.length + 1) : fragment
  }
  if (names.known.has(name)) return name
  // An id may contain the names of all enclosing elements.
  const tail = name.split('/').slice(-2).join('/')
  if (names.known.has(tail)) return tail
  throw problem(at, `nothing is called ${reference}: sources are inputs of this workflow or step/output`)
}

function readSink(node: ValueRecord, key: 'source' | 'outputSource', names: LinkNames): Sink {
  const { linkMerge, pickValue } = node
  return {
    sources: textList(node[key]).map((one) => linkName(one, names, node)),
    ...(typeof linkMerge === 'string' ? { linkMerge: linkMerge as LinkMerge } : {}),
    ...(typeof pickValue === 'string' ? { pickValue: pickValue as PickValue } : {}),
  }
}

export const readWorkflowOutput = (node: ValueRecord, output: OutputParameter, names: LinkNames): WorkflowOutput => ({
  ...output,
  ...readSink(node, 'outputSource', names),
})

function readStepInput(node: ValueRecord, key: 'source' | 'outputSource', names: LinkNames): StepInput {
  const at = placeOf(node)
  const { valueFrom } = node
  return {
    name: shortName(text(node.id) ?? ''),
    ...readSink(node, key, names),
    ...(node.default === undefined ? {} : { default: resolveLocations(node.default, placeOf(node)?.uri ?? '') }),
    ...(typeof valueFrom === 'string' ? { valueFrom } : {}),
    loadContents: node.loadContents === true,
    ...listingField(node.loadListing),
    ...(at === undefined ? {} : { at }),
  }
}

/** A step, without the process that it runs. */
export function readStep(node: ValueRecord, names: LinkNames): Omit<Step, 'run' | 'requirements' | 'hints'> {
  const at = placeOf(node)
  const { when, scatterMethod } = node
  const outputs = stepOutputs(node)
  const own: LinkNames = { workflowId: `${names.workflowId}/loop`, known: new Set(outputs) }
  const loop = node.loop as readonly ValueRecord[] | undefined
  const scatter = textList(node.scatter).map(shortName)
  if (scatter.length > 1 && scatterMethod === undefined) {
    throw problem(placeOf(node, 'scatter'), 'scattering over more than one input needs a scatterMethod')
  }
  if (loop !== undefined && scatter.length > 0)
    throw problem(placeOf(node, 'loop'), 'a step may scatter or loop, not both')
  if (loop !== undefined && typeof when !== 'string')
    throw problem(placeOf(node, 'loop'), 'a loop needs the field when to end')
  return {
    name: shortName(text(node.id) ?? ''),
    ...(typeof node.label === 'string' ? { label: node.label } : {}),
    inputs: ((node.in ?? []) as readonly ValueRecord[]).map((one) => readStepInput(one, 'source', names)),
    outputs,
    ...(typeof when === 'string' ? { when } : {}),
    scatter,
    scatterMethod: typeof scatterMethod === 'string' ? (scatterMethod as ScatterMethod) : 'dotproduct',
    ...(loop === undefined ? {} : { loop: loop.map((one) => readStepInput(one, 'outputSource', own)) }),
    outputMethod: node.outputMethod === 'all_iterations' ? 'all_iterations' : 'last_iteration',
    ...(at === undefined ? {} : { at }),
  }
}
