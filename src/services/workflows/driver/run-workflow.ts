import { FaultError, invalid } from '../../../base/fault.ts'
import type { Stager } from '../../../stagers/stager.ts'
import type { TreeStore } from '../../../stagers/tree-store.ts'
import type { ExpressionPool } from '../../../workflow/expressions/expression-pool.ts'
import type { Fetch } from '../../../workflow/loading/fetch.ts'
import { loadProcess } from '../../../workflow/loading/load.ts'
import { checkProcess } from '../../../workflow/process/check.ts'
import { type CommandCall, drive } from '../../../workflow/run/drive.ts'
import { loadOntology } from '../../../workflow/run/ontologies.ts'
import type { StepOutcome } from '../../../workflow/run/state.ts'
import type { Files } from '../../../workflow/values/files.ts'
import type { ValueRecord } from '../../../workflow/values/value.ts'
import { casFiles } from './cas-files.ts'
import { recognizeOutputs } from './known-outputs.ts'
import { publishOutputs } from './publish-outputs.ts'
import { type Replaced, replacedBy, replacing } from './replaced-inputs.ts'
import type { StepResult, StepTask } from './step-grid.ts'
import { stepOutputs } from './step-outputs.ts'
import { gridSite } from './step-site.ts'
import { prepareStep } from './step-task.ts'
import { waitingLine } from './waiting-line.ts'
import type { WorkflowRunRequest } from './workflow-run.ts'

/** A workflow run to drive to its end, from its start or from where an earlier start of the server left it. */
export interface WorkflowRun {
  readonly id: string
  readonly order: WorkflowRunRequest
  /** Results of commands that ended before, by their paths. */
  readonly done: ReadonlyMap<string, StepYield>
  /** An earlier start of the server began it. */
  readonly isResumed: boolean
}

/** The functions that a run calls. */
export interface RunPorts {
  readonly trees: TreeStore
  readonly stager: Stager
  /** Shared by all runs of a thread. */
  readonly expressions: ExpressionPool
  /** The largest `cwl.output.json` that is read. */
  readonly outputJsonBytes: number
  runStep(step: StepTask): Promise<StepResult>
  runsImages(inPlaces: boolean): Promise<boolean>
  /** Called when a step has ended; for a command, with its outputs. */
  ended(end: StepEnded): void
  readonly signal: AbortSignal
}

/** The outputs of a command. */
export interface StepYield {
  readonly outputs: ValueRecord
  /** Maps the locations of changed inputs to their new locations. */
  readonly replaced: Replaced
}

export interface StepEnded {
  readonly path: string
  /** Set for a command that succeeded. */
  readonly made?: StepYield
  readonly isCommand: boolean
  readonly why?: string
}

const ADDRESS = 'windlass:/submission/workflow.cwl'
/** The limit of queued tasks of one run. Further steps wait here, where each costs one promise. */
const MOST_OPEN = 1000

/**
 * Runs a workflow from its input object to its outputs, with its commands on the grid. Throws only because of a bug.
 */
export async function runWorkflow(run: WorkflowRun, ports: RunPorts): Promise<StepOutcome> {
  const over = new AbortController()
  try {
    const { order } = run
    const share = { instance: order.instance, submission: run.id }
    const wanted = AbortSignal.any([ports.signal, over.signal])
    const fetch = fetchFrom(order)
    const process = await loadProcess(ADDRESS, fetch)
    checkProcess(process)
    const ontology = await loadOntology(process, fetch)
    const replaced = new Map<string, string>()
    const stager = replacing(ports.stager, replaced)
    const files = casFiles(stager, ports.trees)
    const outcome = await drive(process, order.inputs, {
      expressions: ports.expressions.expressionsOf(share, wanted),
      files,
      ...(ontology === undefined ? {} : { ontology }),
      runCommand: commandRunner(run, ports, { stager, files, replaced }),
      note(event) {
        if (event.kind === 'finished') ports.ended({ path: event.path, isCommand: false })
      },
    })
    if (outcome.kind === 'failed') return outcome
    return { kind: 'done', outputs: await publishOutputs(outcome.outputs, { stager, trees: ports.trees }) }
  } catch (cause) {
    if (!(cause instanceof FaultError)) throw cause
    const unsupported = cause.fault.kind === 'invalid' && cause.fault.why === 'unsupported'
    return { kind: 'failed', path: '', why: cause.message, ...(unsupported && { unsupported: true }) }
  } finally {
    over.abort() // expressions of this run that still wait are not evaluated
  }
}

/** Reads documents of the request only: a document must not make the server fetch other addresses. */
const fetchFrom =
  ({ workflow, schemas }: WorkflowRunRequest): Fetch =>
  async (uri) => {
    if (uri === ADDRESS) return JSON.stringify(workflow)
    const text = Object.hasOwn(schemas, uri) ? schemas[uri] : undefined
    if (text === undefined) throw invalid('it did not come with the submission')
    return text
  }

interface Sight {
  readonly stager: Stager
  readonly files: Files
  readonly replaced: Map<string, string>
}

function commandRunner({ id, order, done, isResumed }: WorkflowRun, ports: RunPorts, sight: Sight) {
  const { trees } = ports
  const { stager, files } = sight
  const reading = { files, stager, outputJsonBytes: ports.outputJsonBytes }
  const site = gridSite({ stager, trees }, ports.runsImages)
  const line = waitingLine(MOST_OPEN)
  const madeBy = async (call: CommandCall): Promise<StepYield> => {
    const before = done.get(call.path)
    if (before !== undefined) return before
    const { command, task, requiresNetwork } = await prepareStep(call, site)
    const { instance, priority } = order
    const named = { submission: id, instance, path: call.path, priority }
    const { result } = await ports.runStep({ ...named, task, requiresNetwork, mayBeKnown: isResumed })
    recognizeOutputs(result.outputs, trees)
    const outputs = await stepOutputs(call, { command, result }, reading)
    return { outputs, replaced: await replacedBy(command, result, stager) }
  }
  return async (call: CommandCall): Promise<ValueRecord> => {
    const leave = await line.enter(1)
    try {
      if (call.signal.aborted || ports.signal.aborted)
        throw new FaultError({ kind: 'cancelled', what: 'it was cancelled' })
      const made = await madeBy(call)
      for (const [from, to] of Object.entries(made.replaced)) sight.replaced.set(from, to)
      ports.ended({ path: call.path, isCommand: true, made })
      return made.outputs
    } catch (cause) {
      if (cause instanceof FaultError) ports.ended({ path: call.path, isCommand: true, why: cause.message })
      throw cause
    } finally {
      leave()
    }
  }
}
