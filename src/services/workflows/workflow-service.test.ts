import { describe, expect, onTestFinished, test } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { silentLog } from '../../base/log.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { fileLocation } from '../../model/cas-location.ts'
import { casStager } from '../../stagers/cas-stager.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import type { ExpressionPool } from '../../workflow/expressions/expression-pool.ts'
import { quickJsExpressions } from '../../workflow/expressions/quickjs.ts'
import { localDriver } from './driver/local-driver.ts'
import type { StepEnd, StepGrid, StepTask } from './driver/step-grid.ts'
import { plainBlobs, treeStore } from './driver/tree-blobs.ts'
import type { WorkflowRunRequest } from './driver/workflow-run.ts'
import { memoryWorkflowStore } from './store/memory-workflow-store.ts'
import type { WorkflowStore } from './store/workflow-store.ts'
import { openWorkflowService } from './workflow-runs.ts'

const tool = {
  class: 'CommandLineTool',
  baseCommand: 'echo',
  inputs: { word: 'Any' },
  outputs: { out: { type: 'File', outputBinding: { glob: 'out' } } },
}
const chain = (length: number) => ({
  cwlVersion: 'v1.2',
  class: 'Workflow',
  inputs: {},
  outputs: { out: { type: 'File', outputSource: `s${length - 1}/out` } },
  steps: Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `s${at}`,
      { run: tool, in: { word: at === 0 ? { default: 'x' } : `s${at - 1}/out` }, out: ['out'] },
    ]),
  ),
})
const orderOf = (workflow: object, more: Partial<WorkflowRunRequest> = {}): WorkflowRunRequest => ({
  ...{ instance: '', inputs: {}, schemas: {}, name: '', labels: {}, priority: 0 },
  workflow: workflow as WorkflowRunRequest['workflow'],
  ...more,
})

/** Finishes each step when the test says so, with a file `out`. */
function scriptedGrid(blobs = memoryStore()) {
  const asked: StepTask[] = []
  const cancelled: string[] = []
  const waiting = new Map<string, PromiseWithResolvers<number>>()
  let wake = (): void => {}
  const grid: StepGrid = {
    runsImages: () => false,
    async run(step, told, signal) {
      asked.push(step)
      told({ state: 'running', operation: `op-${step.path}`, startedAt: 1 })
      const exit = Promise.withResolvers<number>()
      waiting.set(step.path, exit)
      signal.addEventListener('abort', () => {
        cancelled.push(step.path)
        exit.reject(new FaultError({ kind: 'cancelled', what: 'it was cancelled' }))
      })
      wake()
      return { result: await resultOf(await exit.promise, step, blobs), cached: false, operation: `op-${step.path}` }
    },
  }
  return {
    ...{ grid, blobs, asked, cancelled },
    /** Waits until the step was requested, then ends it with this exit code. */
    async end(path: string, exitCode = 0) {
      while (!waiting.has(path))
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      waiting.get(path)?.resolve(exitCode)
    },
  }
}

async function resultOf(exitCode: number, { path }: StepTask, blobs: ReturnType<typeof memoryStore>): Promise<StepEnd> {
  const trees = treeStore(plainBlobs(blobs), 'sha256')
  const digest = await trees.put(Buffer.from(`made by ${path}`))
  const files = [{ name: 'out', digest, executable: false, properties: undefined }]
  const root = await trees.putDirectory({ files, directories: [], symlinks: [], properties: undefined })
  return {
    stage: { cause: exitCode === 0 ? 'ok' : 'exit', exitCode, reason: undefined },
    outputs: { root, files: [{ path: 'out', digest, executable: false }], symlinks: [], problem: undefined },
  }
}

const expressions: ExpressionPool = {
  expressionsOf: () => quickJsExpressions({ monotonic: () => performance.now() }),
  async close() {},
}

async function open(grid: ReturnType<typeof scriptedGrid>, store: WorkflowStore = memoryWorkflowStore()) {
  const clock = manualClock()
  const held = new Set<string>()
  let made = 0
  const submissions = await openWorkflowService({
    ...{ store, clock, log: silentLog, grid: grid.grid, driver: localDriver(expressions), retentionMs: 1000, epoch: 1 },
    blobsOf: () => grid.blobs,
    stagerOf: casStager,
    roots: {
      hold: (task, what) => void held.add(`${what} ${task}`),
      release: (task, what) => void held.delete(`${what} ${task}`),
    },
    newId: () => `id${++made}`,
  })
  onTestFinished(() => submissions.close())
  const over = async (id: string) => {
    for (;;) {
      const status = await submissions.find(LOCAL_CALLER, id)
      if (status?.end !== undefined) return status
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  return { submissions, store, clock, held, over }
}

describe('workflow run', () => {
  test('a run executes step after step, and its outputs are files of the store', async () => {
    const grid = scriptedGrid()
    const { submissions, over, held } = await open(grid)
    const { id, state } = await submissions.create(LOCAL_CALLER, orderOf(chain(2)))
    expect(state).toBe('running')
    await grid.end('s0')
    await grid.end('s1')
    const status = await over(id)
    const digest = digestOf('sha256', Buffer.from('made by s1'))
    expect(status).toMatchObject({ state: 'completed', counts: { done: 2, running: 0 } })
    expect(status.end?.outputs).toMatchObject({ out: { location: fileLocation(digest), basename: 'out', size: 10 } })
    expect([...held]).toEqual([`outputs ${id}`]) // intermediate files are no longer held
    const [first, second] = grid.asked
    expect(first?.task.stages[0]?.argv).toEqual(['echo'])
    expect(second?.task.inputs.placed).toMatchObject([{ path: 'in/0/out', digest: { size: 10 } }])
    expect(second?.task.cacheable).toBe(true)
  })

  test('a run fails with the path of the failed step, and cancels its other steps', async () => {
    const grid = scriptedGrid()
    const { submissions, over } = await open(grid)
    const beside = {
      ...chain(1),
      steps: { ...chain(1).steps, other: { run: tool, in: { word: { default: 1 } }, out: [] } },
    }
    const { id } = await submissions.create(LOCAL_CALLER, orderOf(beside))
    await grid.end('s0', 3)
    const { end, state } = await over(id)
    expect([state, end?.failure?.path]).toEqual(['failed', 's0'])
    expect(end?.failure?.why).toContain('exit code 3')
    expect(grid.cancelled).toContain('other')
    expect((await submissions.steps(LOCAL_CALLER, id))?.map(({ path, state: how }) => [path, how])).toEqual([
      ['s0', 'failed'],
      ['other', 'cancelled'],
    ])
  })

  test('a cancelled run ends at once, and stays cancelled', async () => {
    const grid = scriptedGrid()
    const { submissions } = await open(grid)
    const { id } = await submissions.create(LOCAL_CALLER, orderOf(chain(2)))
    await grid.end('s0')
    while (grid.asked.length < 2) await new Promise<void>((resolve) => setImmediate(resolve))
    expect(await submissions.cancel(LOCAL_CALLER, id)).toMatchObject({ state: 'cancelled' })
    expect(grid.cancelled).toContain('s1')
    expect(await submissions.cancel(LOCAL_CALLER, id)).toMatchObject({ state: 'cancelled' })
  })

  test('a run with inputs that the store lacks is refused as missing', async () => {
    const { submissions } = await open(scriptedGrid())
    const file = { class: 'File', location: fileLocation(digestOf('sha256', Buffer.from('absent'))) }
    await expect(submissions.create(LOCAL_CALLER, orderOf(chain(1), { inputs: { file } }))).rejects.toMatchObject({
      fault: { kind: 'missing' },
    })
  })

  test('a run is deleted after retentionMs', async () => {
    const grid = scriptedGrid()
    const { submissions, over, clock, held } = await open(grid)
    const { id } = await submissions.create(LOCAL_CALLER, orderOf(chain(1)))
    await grid.end('s0')
    await over(id)
    clock.advance(120_000)
    while ((await submissions.find(LOCAL_CALLER, id)) !== undefined)
      await new Promise<void>((resolve) => setImmediate(resolve))
    expect(held.size).toBe(0)
  })
})

describe('workflow runs after a restart', () => {
  test('recorded steps are not requested again, and others are marked as possibly known to the grid', async () => {
    const store = memoryWorkflowStore()
    const before = scriptedGrid()
    const first = await open(before, store)
    const { id } = await first.submissions.create(LOCAL_CALLER, orderOf(chain(3)))
    await before.end('s0')
    while (before.asked.length < 2) await new Promise<void>((resolve) => setImmediate(resolve))
    await first.submissions.close()
    await before.end('s1') // the result is not received

    const after = scriptedGrid(before.blobs)
    const second = await open(after, store)
    await after.end('s1')
    await after.end('s2')
    expect(await second.over(id)).toMatchObject({ state: 'completed', counts: { done: 3 } })
    expect(after.asked.map(({ path, mayBeKnown }) => [path, mayBeKnown])).toEqual([
      ['s1', true],
      ['s2', true],
    ])
    expect(before.asked.every(({ mayBeKnown }) => !mayBeKnown)).toBe(true)
  })

  test('an ended run stays ended', async () => {
    const store = memoryWorkflowStore()
    const grid = scriptedGrid()
    const first = await open(grid, store)
    const { id } = await first.submissions.create(LOCAL_CALLER, orderOf(chain(1)))
    await grid.end('s0', 1)
    await first.over(id)
    const second = await open(scriptedGrid(), store)
    expect(await second.submissions.find(LOCAL_CALLER, id)).toMatchObject({ state: 'failed' })
    const query = { instance: undefined, states: undefined, labels: {}, limit: 10, cursor: undefined }
    expect(second.submissions.list(LOCAL_CALLER, query).submissions).toMatchObject([{ id, state: 'failed' }])
  })
})
