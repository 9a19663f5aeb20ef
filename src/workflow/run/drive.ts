import { FaultError, invalid } from '../../base/fault.ts'
import { bindInputs } from '../binding/bind-inputs.ts'
import { type Evaluator, evaluatorFor } from '../expressions/evaluate.ts'
import type { CommandLineTool, CwlOperation, ExpressionTool, Process, Scope, Workflow } from '../process/process.ts'
import { NO_SCOPE, scopeOf } from '../process/requirement.ts'
import type { ValueRecord } from '../values/value.ts'
import { evaluateStep, type StepEvaluationTools } from './evaluate-step.ts'
import { runExpressionTool } from './expression-tool.ts'
import { apply, begin, outstanding } from './machine.ts'
import type { Failure, MachineEvent, RunState, RunWork, StepOutcome } from './state.ts'

/** A command to run: the tool, its complete inputs, and its requirements. */
export interface CommandCall {
  readonly path: string
  readonly tool: CommandLineTool
  readonly scope: Scope
  readonly inputs: ValueRecord
  readonly evaluator: Evaluator
  /** Aborted when the run has ended and the result is no longer needed. */
  readonly signal: AbortSignal
}

export interface Driving extends StepEvaluationTools {
  /** Runs a command and returns its output object. Throws an error for a failure. */
  readonly runCommand: (call: CommandCall) => Promise<ValueRecord>
  /** Called with each event that is applied; an error that it throws ends the run. */
  readonly note?: (event: MachineEvent, state: RunState) => void
}

/** Runs a process from its input object to its end, with as much work in parallel as the workflow allows. */
export async function drive(process: Process, given: ValueRecord, driving: Driving): Promise<StepOutcome> {
  const scope = scopeOf(NO_SCOPE, process)
  return untilOver(driving, async (answering) => {
    if (process.class !== 'Workflow') {
      return { kind: 'done', outputs: await runTool({ process, scope, inputs: given, path: '' }, answering, true) }
    }
    const evaluator = evaluatorFor(driving.expressions, scope, process.version)
    const inputs = await bindInputs(process, given, { ...bindingOf(driving), scope, evaluator, discover: true })
    const { state, work } = begin(process, inputs)
    return loop(work, answering, { state, take: (event) => apply(process, state, event).work })
  })
}

/** Continues a run that was interrupted: completed work is not repeated. */
export const resume = (workflow: Workflow, state: RunState, driving: Driving): Promise<StepOutcome> =>
  untilOver(driving, (answering) =>
    loop(outstanding(workflow, state), answering, { state, take: (event) => apply(workflow, state, event).work }),
  )

/** Runs a unit of work and applies the event that answers it, while the run is under way. */
export interface Answering extends Driving {
  readonly signal: AbortSignal
}

async function untilOver(driving: Driving, run: (answering: Answering) => Promise<StepOutcome>): Promise<StepOutcome> {
  const over = new AbortController()
  try {
    return await run({ ...driving, signal: over.signal })
  } catch (cause) {
    return failureOf('', cause)
  } finally {
    over.abort()
  }
}

const bindingOf = ({ files, ontology }: StepEvaluationTools) => ({
  files,
  ...(ontology === undefined ? {} : { ontology }),
})

interface Course {
  readonly state: RunState
  readonly take: (event: MachineEvent) => readonly RunWork[]
}

function loop(first: readonly RunWork[], driving: Answering, { state, take }: Course): Promise<StepOutcome> {
  return new Promise((resolve, reject) => {
    const start = (work: readonly RunWork[]): void => {
      if (state.outcome !== undefined) resolve(state.outcome)
      for (const one of work) {
        void answerWork(one, driving)
          .then((event) => {
            const next = take(event)
            driving.note?.(event, state)
            start(next)
          })
          .catch(reject)
      }
    }
    start(first)
  })
}

/** Runs a unit of work and returns the event that answers it. */
export async function answerWork(work: RunWork, driving: Answering): Promise<MachineEvent> {
  try {
    if (work.kind === 'evaluate') return await evaluateStep(work, driving)
    return { kind: 'finished', path: work.path, outputs: await runTool(work, driving, false) }
  } catch (cause) {
    return failureOf(work.path, cause)
  }
}

/** Only a `FaultError` becomes an event; any other error is a bug and is thrown. */
function failureOf(path: string, cause: unknown): Failure {
  if (!(cause instanceof FaultError)) throw cause
  const unsupported = cause.fault.kind === 'invalid' && cause.fault.why === 'unsupported'
  return { kind: 'failed', path, why: cause.message, ...(unsupported ? { unsupported } : {}) }
}

interface Running {
  readonly path: string
  readonly process: CommandLineTool | ExpressionTool | CwlOperation
  readonly scope: Scope
  readonly inputs: ValueRecord
}

async function runTool(
  { path, process, scope, inputs: given }: Running,
  driving: Answering,
  discover: boolean,
): Promise<ValueRecord> {
  const evaluator = evaluatorFor(driving.expressions, scope, process.version)
  if (process.class === 'Operation') throw invalid('an Operation has no implementation: it cannot run', 'unsupported')
  const inputs = await bindInputs(process, given, { ...bindingOf(driving), scope, evaluator, discover })
  if (process.class === 'ExpressionTool') return runExpressionTool(process, inputs, evaluator)
  return driving.runCommand({ path, tool: process, scope, inputs, evaluator, signal: driving.signal })
}
