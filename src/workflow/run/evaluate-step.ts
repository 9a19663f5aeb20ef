import { invalid } from '../../base/fault.ts'
import { bindInputs } from '../binding/bind-inputs.ts'
import { ListedEntries, withContents, withListing } from '../binding/load-contents.ts'
import { type Evaluator, evaluate, evaluatorFor } from '../expressions/evaluate.ts'
import type { Expressions } from '../expressions/expressions.ts'
import type { Step, StepInput } from '../process/process.ts'
import { scopeOf } from '../process/requirement.ts'
import type { Version } from '../process/version.ts'
import { isDirectory, isFile, mapDataSlowly } from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import type { Ontology } from '../values/ontology.ts'
import { describeValue, field, type Value, type ValueRecord } from '../values/value.ts'
import { gatherSources } from './gather.ts'
import { scatter } from './scatter.ts'
import type { MachineEvent, RunWork } from './state.ts'

export interface StepEvaluationTools {
  readonly expressions: Expressions
  readonly files: Files
  readonly ontology?: Ontology
}

/**
 * Answers the work `evaluate`: returns the input object of each instance of a step, or null for one that is skipped.
 */
export async function evaluateStep(
  work: Extract<RunWork, { kind: 'evaluate' }>,
  tools: StepEvaluationTools,
): Promise<Extract<MachineEvent, { kind: 'evaluated' }>> {
  const { step, path, scope } = work
  const evaluator = evaluatorFor(tools.expressions, scope, work.version)
  const start: Starting =
    work.previous === undefined ? { inputs: step.inputs, given: work.given } : nextRound(work, work.previous)
  const loaded = await load(start, tools.files, work.version)
  const { shape, inputs } = step.scatter.length > 0 ? scatter(step, loaded) : { shape: undefined, inputs: [loaded] }
  const before = work.previous?.inputs
  const turns: (ValueRecord | null)[] = []
  for (const [index, one] of inputs.entries()) {
    // Ten thousand expressions take seconds: yields to the event loop in between.
    if (index % TURN === TURN - 1) await new Promise<void>((resolve) => setImmediate(resolve))
    const complete = await withValues(start.inputs, one, { evaluator, seen: before ?? one })
    turns.push((await isSkipped(step, complete, evaluator)) ? null : await boundFor(step, complete, { work, tools }))
  }
  return { kind: 'evaluated', path, ...(shape === undefined ? {} : { shape }), turns }
}

const TURN = 64

interface Starting {
  readonly inputs: readonly StepInput[]
  readonly given: ValueRecord
}

/** In later iterations only the inputs that the loop names are new; all others stay the same. */
function nextRound(
  { step }: Extract<RunWork, { kind: 'evaluate' }>,
  { inputs, outputs }: { inputs: ValueRecord; outputs: ValueRecord },
): Starting {
  const renewed = (step.loop ?? []).map((input): [string, Value] => {
    const value = gatherSources(
      input,
      (source) => field(outputs, source) ?? null,
      `${input.name} of the loop ${step.name}`,
    )
    return [input.name, value ?? input.default ?? null]
  })
  return { inputs: step.loop ?? [], given: Object.fromEntries([...Object.entries(inputs), ...renewed]) }
}

async function load({ inputs, given }: Starting, files: Files, version: Version): Promise<ValueRecord> {
  const loaded: [string, Value][] = Object.entries(given)
  const count = new ListedEntries()
  for (const { name, loadContents, loadListing } of inputs) {
    if (!loadContents && loadListing === undefined) continue
    const value = await mapDataSlowly(field(given, name) ?? null, async (data) => {
      if (isFile(data)) return loadContents ? withContents(data, files, version) : data
      return isDirectory(data) && loadListing !== undefined
        ? withListing(data, { files, listing: loadListing, count })
        : data
    })
    loaded.push([name, value])
  }
  return Object.fromEntries(loaded)
}

/** `valueFrom` reads the inputs before any of them is replaced. */
async function withValues(
  inputs: readonly StepInput[],
  given: ValueRecord,
  { evaluator, seen }: { evaluator: Evaluator; seen: ValueRecord },
): Promise<ValueRecord> {
  const made: [string, Value][] = []
  for (const { name, valueFrom } of inputs) {
    if (valueFrom === undefined) continue
    const self = field(given, name) ?? null
    made.push([name, await evaluate(valueFrom, { inputs: seen, self, runtime: {} }, evaluator)])
  }
  return made.length === 0 ? given : Object.fromEntries([...Object.entries(given), ...made])
}

async function isSkipped(step: Step, inputs: ValueRecord, evaluator: Evaluator): Promise<boolean> {
  if (step.when === undefined) return false
  const value = await evaluate(step.when, { inputs, self: null, runtime: {} }, evaluator)
  if (typeof value === 'boolean') return !value
  throw invalid(`the field when of the step ${step.name} must give true or false, not ${describeValue(value)}`)
}

interface Binding {
  readonly work: Extract<RunWork, { kind: 'evaluate' }>
  readonly tools: StepEvaluationTools
}

/** A nested workflow gets complete inputs; inputs of tools are completed when they run. */
async function boundFor(step: Step, inputs: ValueRecord, { work, tools }: Binding): Promise<ValueRecord> {
  const { run } = step
  if (run.class !== 'Workflow') return inputs
  const scope = scopeOf(work.scope, run)
  const evaluator = evaluatorFor(tools.expressions, scope, run.version)
  const { files, ontology } = tools
  const bound = await bindInputs(run, inputs, {
    scope,
    evaluator,
    files,
    discover: false,
    ...(ontology === undefined ? {} : { ontology }),
  })
  // In a loop, the step's own inputs must stay available after the nested workflow has read them.
  return step.loop === undefined ? bound : { ...inputs, ...bound }
}
