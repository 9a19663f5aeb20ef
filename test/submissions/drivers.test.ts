import { afterAll, describe, expect, test } from 'vitest'
import { cwl, runLimits } from '../../src/app/config/cwl.ts'
import { openExpressions } from '../../src/app/cwl/expressions.ts'
import { FaultError } from '../../src/base/fault.ts'
import { fileLocation } from '../../src/model/cas-location.ts'
import type { RunHost, WorkflowDriver } from '../../src/services/workflows/driver/driver.ts'
import { localDriver } from '../../src/services/workflows/driver/local-driver.ts'
import type { WorkflowRun } from '../../src/services/workflows/driver/run-workflow.ts'
import { threadDriver } from '../../src/services/workflows/driver/thread-driver.ts'
import { plainBlobs, treeStore } from '../../src/services/workflows/driver/tree-blobs.ts'
import { stagersByScheme } from '../../src/stagers/by-scheme.ts'
import { casStager } from '../../src/stagers/cas-stager.ts'
import type { Stager } from '../../src/stagers/stager.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'

const file = new URL('../../src/app/cwl/driver-thread.ts', import.meta.url)
const limits = runLimits(cwl.parse({}))
const DRIVERS: Readonly<Record<string, WorkflowDriver>> = {
  'on this thread': localDriver(openExpressions(limits.expressions)),
  'on threads of their own': threadDriver({ file, limits, threads: 2 }),
}
afterAll(async () => {
  for (const driver of Object.values(DRIVERS)) await driver.close()
})

const expression = (code: string) => ({
  cwlVersion: 'v1.2',
  class: 'ExpressionTool',
  requirements: { InlineJavascriptRequirement: {} },
  inputs: { word: 'string' },
  outputs: { out: 'Any' },
  expression: code,
})
const tool = { cwlVersion: 'v1.2', class: 'CommandLineTool', baseCommand: 'true', inputs: {}, outputs: {} }

let runs = 0
const runOf = (workflow: object, inputs = {}): WorkflowRun => ({
  id: `run-${++runs}`,
  order: {
    ...{ instance: '', inputs, schemas: {}, name: '', labels: {}, priority: 0 },
    workflow: workflow as WorkflowRun['order']['workflow'],
  },
  done: new Map(),
  isResumed: false,
})
const hostOf = (more: Partial<RunHost> = {}, blobs = plainBlobs(memoryStore())): RunHost => ({
  blobs,
  stager: casStager(treeStore(blobs, 'sha256')),
  runsImages: () => false,
  ended() {},
  signal: new AbortController().signal,
  runStep: () => Promise.reject(new FaultError({ kind: 'unavailable', what: 'nobody is there' })),
  ...more,
})

describe.each(Object.entries(DRIVERS))('a workflow driver %s', (_, driver) => {
  test('evaluates expressions without a request to its host', async () => {
    const words = await driver.run(runOf(expression('$({ out: inputs.word + "!" })'), { word: 'hello' }), hostOf())
    expect(words).toEqual({ kind: 'done', outputs: { out: 'hello!' } })
  })

  test('requests its commands, and fails with the fault that it receives', async () => {
    const asked: string[] = []
    const runStep: RunHost['runStep'] = async ({ task }) => {
      asked.push(...(task.stages[0]?.argv ?? []))
      throw new FaultError({ kind: 'unavailable', what: 'nobody is there' })
    }
    const outcome = await driver.run(runOf(tool), hostOf({ runStep }))
    expect(outcome).toMatchObject({ kind: 'failed', why: 'nobody is there' })
    expect(asked).toEqual(['true'])
  })

  test('finds inputs by the stagers of the server', async () => {
    const blobs = plainBlobs(memoryStore())
    const trees = treeStore(blobs, 'sha256')
    const digest = await trees.put(Buffer.from('data'))
    const bucket: Stager = {
      find: async (location) =>
        location === 's3://bucket/key' ? { kind: 'file', digest, executable: false } : undefined,
      put: async (_, to) => to,
      named: () => undefined,
    }
    const stager = stagersByScheme({ cas: casStager(trees), s3: bucket })
    const inputs = { data: { type: 'File', loadContents: true } }
    const workflow = { ...expression('$({ out: [inputs.data.contents, inputs.data] })'), inputs }
    const run = (location: string) =>
      driver.run(runOf(workflow, { data: { class: 'File', location } }), hostOf({ stager }, blobs))
    expect(await run('s3://bucket/key')).toMatchObject({
      kind: 'done',
      outputs: { out: ['data', { location: fileLocation(digest), size: 4 }] },
    })
    expect(await run('s3://bucket/other')).toMatchObject({ kind: 'failed' })
  })

  test('reports an unsupported requirement', async () => {
    const requirements = { DockerRequirement: { dockerPull: 'debian' } }
    expect(await driver.run(runOf({ ...tool, requirements }), hostOf())).toMatchObject({ unsupported: true })
  })

  test('reads no document that did not come with the submission', async () => {
    const workflow = { ...tool, requirements: { SchemaDefRequirement: { types: [{ $import: 'file:///etc/passwd' }] } } }
    const outcome = await driver.run(runOf(workflow), hostOf())
    expect(outcome).toMatchObject({ kind: 'failed', why: expect.stringContaining('did not come with the submission') })
  })
})
