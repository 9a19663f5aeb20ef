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
import { prepareStep } from './step-task.ts'
import type { WorkflowRunRequest } from './workflow-run.ts'

/** A submission that is to be taken to its end, from wherever it was. */
export interface WorkflowRun {
  readonly id: string
  readonly order: WorkflowRunRequest
  /** Results of commands that ended before, by their paths. */
  readonly done: ReadonlyMap<string, StepYield>
  /** It was begun by an earlier start of the server. */
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
  /** A step has ended. Commands are told of with their outputs. */
  ended(end: StepEnded): void
  readonly signal: AbortSignal
}

/** The outputs of a command. */
export interface StepYield {
  readonly outputs: ValueRecord
  /** Locations of inputs that it changed, and where they are as it left them. */
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
/** So many tasks of one submission are in the queue at a time; all others wait here, where they cost next to nothing. */
const MOST_OPEN = 1000

/** Takes a workflow from its input object to its outputs, commands by way of the grid. Never throws but for our mistakes. */
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
    over.abort() // its expressions that still wait are not run
  }
}

/** Reads documents of the request only: a document must not make the server look anywhere. */
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
  const line = waitingLine(MOST_OPEN)
  const madeBy = async (call: CommandCall): Promise<StepYield> => {
    const before = done.get(call.path)
    if (before !== undefined) return before
    const { command, task, requiresNetwork } = await prepareStep(call, { stager, trees, runsImages: ports.runsImages })
    const { instance, priority } = order
    const named = { submission: id, instance, path: call.path, priority }
    const { result } = await ports.runStep({ ...named, task, requiresNetwork, mayBeKnown: isResumed })
    recognizeOutputs(result.outputs, trees)
    const outputs = await stepOutputs(call, { command, result }, reading)
    return { outputs, replaced: await replacedBy(command, result, stager) }
  }
  return async (call: CommandCall): Promise<ValueRecord> => {
    await line.enter()
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
      line.leave()
    }
  }
}

function waitingLine(most: number) {
  let inside = 0
  const waiting: (() => void)[] = []
  return {
    async enter(): Promise<void> {
      if (inside < most) inside += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    leave(): void {
      const next = waiting.shift()
      if (next === undefined) inside -= 1
      else next()
    },
  }
}
