import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import type { BlobRoots } from '../../engine/tasks/ports.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { Stager } from '../../stagers/stager.ts'
import type { TreeStore } from '../../stagers/tree-store.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { RunHost, WorkflowDriver } from './driver/driver.ts'
import type { StepYield } from './driver/run-workflow.ts'
import type { StepGrid } from './driver/step-grid.ts'
import { plainBlobs, treeStore } from './driver/tree-blobs.ts'
import type { WorkflowRunEnd, WorkflowRunRequest } from './driver/workflow-run.ts'
import { digestsIn } from './named-blobs.ts'
import type { OpenRun } from './open-run.ts'
import type { StepNote, WorkflowStore } from './store/workflow-store.ts'

export interface RunTools {
  readonly store: WorkflowStore
  readonly driver: WorkflowDriver
  readonly grid: StepGrid
  readonly blobsOf: (instance: InstanceName) => BlobStore
  /** The stagers that find the inputs of workflows, over the blobs of one instance. */
  readonly stagerOf: (trees: TreeStore) => Stager
  readonly roots: BlobRoots
  readonly clock: Clock
  readonly log: Log
  readonly isClosing: () => boolean
}

interface RunStart {
  readonly order: WorkflowRunRequest
  /** Notes of an earlier start of the server; undefined for a new run. */
  readonly notes: readonly StepNote[] | undefined
}

/** Drives a run to its end, and pins the outputs of its steps until then. */
export async function runToEnd(run: OpenRun, { order, notes }: RunStart, tools: RunTools): Promise<WorkflowRunEnd> {
  const { head } = run
  const { clock, roots, store, log } = tools
  const held = new Set<string>()
  const blobs = plainBlobs(tools.blobsOf(order.instance))
  const stager = tools.stagerOf(treeStore(blobs, 'sha256'))
  const hold = (path: string, { outputs, replaced }: StepYield): void => {
    const name = `${head.id} ${path}`
    held.add(name)
    roots.hold(
      name,
      'outputs',
      digestsIn([outputs, Object.values(replaced).map((location) => ({ class: 'File', location }))], stager),
    )
  }
  for (const note of notes ?? []) {
    run.remember(note)
    hold(note.step.path, note.made)
  }
  const host: RunHost = {
    blobs,
    stager,
    runsImages: (inPlaces) => tools.grid.runsImages(inPlaces),
    signal: run.ending.signal,
    async runStep(step) {
      const { path } = step
      const result = await tools.grid.run(step, (progress) => run.progress(path, progress), host.signal)
      if (result.cached) run.hit(path)
      return result
    },
    ended({ path, isCommand, made, why }) {
      if (tools.isClosing() || run.isOver || (!isCommand && run.steps.get(path) !== undefined)) return
      if (run.steps.get(path)?.state === 'success') return // stored by an earlier start
      const step = run.ended(path, { at: clock.now(), why })
      if (made === undefined) return
      hold(path, made)
      store.note(head.id, { step, made })
    },
  }
  try {
    run.began()
    const done = new Map((notes ?? []).map(({ step, made }) => [step.path, made]))
    const outcome = await tools.driver.run({ id: head.id, order, done, isResumed: notes !== undefined }, host)
    const at = clock.now()
    if (outcome.kind === 'done') return { state: 'completed', at, outputs: outcome.outputs, failure: undefined }
    const { path, why, unsupported = false } = outcome
    return { state: 'failed', at, outputs: undefined, failure: { path, why, unsupported } }
  } catch (error) {
    if (!tools.isClosing()) log.error({ err: error, submission: head.id }, 'workflow driver thread crashed')
    const why = error instanceof FaultError ? error.message : 'something went wrong on the server, whose log says more'
    return { state: 'failed', at: clock.now(), outputs: undefined, failure: { path: '', why, unsupported: false } }
  } finally {
    for (const name of held) roots.release(name, 'outputs')
  }
}
