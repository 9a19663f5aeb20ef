import { FaultError } from '../../base/fault.ts'
import type { Scope, Step, Workflow } from '../process/process.ts'
import { NO_SCOPE, scopeOf, within } from '../process/requirement.ts'
import { field, type Value, type ValueRecord } from '../values/value.ts'
import { gatherSources } from './gather.ts'
import { unscatter } from './scatter.ts'
import type { Frame, Loop, MachineEvent, RunState, RunWork, StepPhase, TurnState } from './state.ts'

/**
 * The state machine of a workflow run: events in, work out. It never waits, reads no clock and opens no file; I/O is
 * returned as work, and its result comes back as an event. Every step and every instance of a step has a path that is
 * the same in every run: `align`, `align[3]` when it is scattered, `refine@2` in the third iteration of a loop,
 * `align[3]/sort` within a nested workflow.
 */
export interface Moved {
  readonly state: RunState
  readonly work: readonly RunWork[]
}

/** A workflow that is running, and its path. */
interface Here {
  readonly workflow: Workflow
  readonly scope: Scope
  readonly frame: Frame
  /** Empty, or the path of the step instance that runs this workflow, followed by a slash. */
  readonly prefix: string
  readonly work: RunWork[]
  /** Called when every step is done. */
  readonly finish: (outputs: ValueRecord) => void
}

/** Starts a run. The inputs are complete, as `bindInputs` returns them. */
export function begin(workflow: Workflow, inputs: ValueRecord): Moved {
  const state: RunState = { frame: newFrame(workflow, inputs) }
  const work: RunWork[] = []
  failing(state, '', () => advance(root(workflow, state, work)))
  return { state, work: state.outcome === undefined ? work : [] }
}

/** Applies an event. A repeated event, or one after the end, changes nothing. */
export function apply(workflow: Workflow, state: RunState, event: MachineEvent): Moved {
  const work: RunWork[] = []
  if (state.outcome !== undefined) return { state, work }
  if (event.kind === 'failed') {
    state.outcome = event
    return { state, work }
  }
  failing(state, event.path, () => {
    const found = find(root(workflow, state, work), event.path.split('/'))
    if (found === undefined) return
    if (event.kind === 'evaluated') evaluated(found, event)
    else finished(found, event.outputs)
  })
  return { state, work: state.outcome === undefined ? work : [] }
}

/** All work without an answer: it must be done again after a restart. */
export function outstanding(workflow: Workflow, state: RunState): readonly RunWork[] {
  const work: RunWork[] = []
  if (state.outcome === undefined) handOut(root(workflow, state, work))
  return work
}

function failing(state: RunState, path: string, move: () => void): void {
  try {
    move()
  } catch (cause) {
    if (!(cause instanceof FaultError)) throw cause
    state.outcome = { kind: 'failed', path, why: cause.message }
  }
}

const newFrame = (workflow: Workflow, inputs: ValueRecord): Frame => ({
  inputs,
  steps: Object.fromEntries(workflow.steps.map((step): [string, StepPhase] => [step.name, { phase: 'waiting' }])),
})

function root(workflow: Workflow, state: RunState, work: RunWork[]): Here {
  const finish = (outputs: ValueRecord): void => {
    state.outcome = { kind: 'done', outputs }
  }
  return { workflow, scope: within(NO_SCOPE, workflow), frame: state.frame, prefix: '', work, finish }
}

/** Starts every step whose sources are available; ends the workflow when all steps are done. */
function advance(here: Here): void {
  for (const step of here.workflow.steps) {
    if (here.frame.steps[step.name]?.phase === 'waiting' && isReady(step, here.frame)) {
      here.frame.steps[step.name] = { phase: 'evaluating' }
      askFor(here, step)
    }
  }
  if (Object.values(here.frame.steps).every(({ phase }) => phase === 'done')) {
    const outputs = here.workflow.outputs.map((output): [string, Value] => [
      output.name,
      gatherSources(output, (source) => sourceValue(here.frame, source), `the output ${output.name}`),
    ])
    here.finish(Object.fromEntries(outputs))
  }
}

const isReady = (step: Step, frame: Frame): boolean =>
  step.inputs.every((input) =>
    input.sources.every((source) => {
      const slash = source.indexOf('/')
      return slash < 0 || frame.steps[source.slice(0, slash)]?.phase === 'done'
    }),
  )

function sourceValue(frame: Frame, source: string): Value {
  const slash = source.indexOf('/')
  if (slash < 0) return field(frame.inputs, source) ?? null
  const step = frame.steps[source.slice(0, slash)]
  return step?.phase === 'done' ? (field(step.outputs, source.slice(slash + 1)) ?? null) : null
}

function askFor(here: Here, step: Step, loop?: Loop): void {
  const given = step.inputs.map((input): [string, Value] => {
    const value = gatherSources(
      input,
      (source) => sourceValue(here.frame, source),
      `${input.name} of the step ${step.name}`,
    )
    return [input.name, value ?? input.default ?? null]
  })
  const outputs = loop?.rounds.at(-1)
  here.work.push({
    kind: 'evaluate',
    path: here.prefix + step.name,
    step,
    scope: within(here.scope, step),
    version: here.workflow.version,
    given: Object.fromEntries(given),
    ...(loop !== undefined && outputs !== undefined ? { previous: { inputs: loop.inputs, outputs } } : {}),
  })
}

/** Finds the step and the instance that a path names. */
interface Found {
  readonly here: Here
  readonly step: Step
  readonly index: number
}

function evaluated({ here, step }: Found, event: Extract<MachineEvent, { kind: 'evaluated' }>): void {
  const state = here.frame.steps[step.name]
  if (state?.phase !== 'evaluating') return
  const { loop } = state
  if (step.loop !== undefined && event.turns[0] === null) return endLoop({ here, step, index: 0 }, loop)
  const turns = event.turns.map((inputs): TurnState => {
    if (inputs === null) return { phase: 'done', outputs: nothing(step) }
    return step.run.class === 'Workflow'
      ? { phase: 'running', inputs, frame: newFrame(step.run, inputs) }
      : { phase: 'running', inputs }
  })
  const left = turns.filter((one) => one.phase === 'running').length
  here.frame.steps[step.name] = {
    phase: 'running',
    ...(event.shape === undefined ? {} : { shape: event.shape }),
    turns,
    left,
    ...(step.loop === undefined ? {} : { loop: loop ?? { inputs: event.turns[0] ?? {}, rounds: [] } }),
  }
  if (left === 0) return endStep({ here, step, index: 0 })
  turns.forEach((_, index) => {
    startTurn({ here, step, index }, advance)
  })
}

const nothing = (step: Step): ValueRecord => Object.fromEntries(step.outputs.map((name) => [name, null]))

/** Returns the work of a step instance; a nested workflow starts, or continues. */
function startTurn(found: Found, enter: (inner: Here) => void): void {
  const { here, step, index } = found
  const state = here.frame.steps[step.name]
  const turn = state?.phase === 'running' ? state.turns[index] : undefined
  if (turn?.phase !== 'running') return
  const inner = innerOf(found)
  if (inner !== undefined) return enter(inner)
  if (step.run.class === 'Workflow') return
  const scope = scopeOf(within(here.scope, step), step.run)
  here.work.push({ kind: 'run', path: turnPath(found), process: step.run, scope, inputs: turn.inputs })
}

function turnPath({ here, step, index }: Found): string {
  const state = here.frame.steps[step.name]
  const isScattered = state?.phase === 'running' && state.shape !== undefined
  const round = state?.phase === 'running' && state.loop !== undefined ? `@${state.loop.rounds.length}` : ''
  return `${here.prefix}${step.name}${isScattered ? `[${index}]` : ''}${round}`
}

function innerOf(found: Found): Here | undefined {
  const { here, step, index } = found
  const state = here.frame.steps[step.name]
  const turn = state?.phase === 'running' ? state.turns[index] : undefined
  if (turn?.phase !== 'running' || turn.frame === undefined || step.run.class !== 'Workflow') return undefined
  return {
    workflow: step.run,
    scope: within(within(here.scope, step), step.run),
    frame: turn.frame,
    prefix: `${turnPath(found)}/`,
    work: here.work,
    finish: (outputs) => finished(found, outputs),
  }
}

function finished(found: Found, outputs: ValueRecord): void {
  const { here, step, index } = found
  const state = here.frame.steps[step.name]
  if (state?.phase !== 'running' || state.turns[index]?.phase !== 'running') return
  const kept = step.outputs.map((name): [string, Value] => [name, field(outputs, name) ?? null])
  const turn = state.turns[index]
  state.turns[index] = { phase: 'done', outputs: Object.fromEntries(kept) }
  state.left -= 1
  if (state.left > 0) return
  if (state.loop === undefined) return endStep(found)
  const loop = { inputs: turn.inputs, rounds: [...state.loop.rounds, Object.fromEntries(kept)] }
  here.frame.steps[step.name] = { phase: 'evaluating', loop }
  askFor(here, step, loop)
}

function endStep({ here, step }: Found): void {
  const state = here.frame.steps[step.name]
  if (state?.phase !== 'running') return
  const results = state.turns.map((turn) => (turn.phase === 'done' ? turn.outputs : nothing(step)))
  const outputs =
    state.shape === undefined ? (results[0] ?? nothing(step)) : unscatter(step.outputs, state.shape, results)
  here.frame.steps[step.name] = { phase: 'done', outputs }
  advance(here)
}

function endLoop({ here, step }: Found, loop: Loop | undefined): void {
  const rounds = loop?.rounds ?? []
  const outputs =
    step.outputMethod === 'all_iterations'
      ? unscatter(step.outputs, [rounds.length], rounds)
      : (rounds.at(-1) ?? nothing(step))
  here.frame.steps[step.name] = { phase: 'done', outputs }
  advance(here)
}

const PART = /^(.*?)(?:\[(\d+)\])?(?:@(\d+))?$/s

function find(here: Here, [first = '', ...rest]: readonly string[]): Found | undefined {
  const [, name, index, round] = PART.exec(first) ?? []
  const step =
    here.workflow.steps.find((one) => one.name === first) ?? here.workflow.steps.find((one) => one.name === name)
  if (step === undefined) return undefined
  const found: Found = { here, step, index: Number(index ?? 0) }
  // An answer to an earlier iteration of a loop is ignored.
  if (round !== undefined && turnPath(found) !== here.prefix + first) return undefined
  if (rest.length === 0) return found
  const inner = innerOf(found)
  return inner === undefined ? undefined : find(inner, rest)
}

function handOut(here: Here): void {
  for (const step of here.workflow.steps) {
    const state = here.frame.steps[step.name]
    if (state?.phase === 'evaluating') askFor(here, step, state.loop)
    if (state?.phase !== 'running') continue
    state.turns.forEach((_, index) => {
      startTurn({ here, step, index }, handOut)
    })
  }
}
