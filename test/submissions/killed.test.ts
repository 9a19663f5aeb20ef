import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { folderOf, type Told } from '../cwl/documents.ts'
import { type CwlEnd, startCwl } from '../cwl/run-here.ts'
import { CALLS_MAY_LEAVE, callingHome, callingTool } from './calling-home.ts'
import { startWorkflowServer } from './workflow-server.ts'

const CHAIN = 20
const WIDTH = 30
const WORKERS = 2
const SLOTS = 2

/** A chain and a scatter beside it; all commands connect to this test. */
function workflow(port: number) {
  const run = callingTool(port, 0.1)
  const chain = Array.from({ length: CHAIN }, (_, at) => {
    const before = at === 0 ? {} : { before: `link${at - 1}/out` }
    return [`link${at}`, { run, in: { name: { default: `link${at}` }, ...before }, out: ['out'] }]
  })
  const each = { run, scatter: 'name', in: { name: 'names' }, out: ['out'] }
  return {
    cwlVersion: 'v1.2',
    class: 'Workflow',
    requirements: { ScatterFeatureRequirement: {} },
    inputs: { names: 'string[]' },
    outputs: {
      last: { type: 'File', outputSource: `link${CHAIN - 1}/out` },
      all: { type: 'File[]', outputSource: 'each/out' },
    },
    steps: { ...Object.fromEntries(chain), each },
  }
}

test('a server that is killed during a workflow loses no step, and repeats only steps that were running', async () => {
  const home = await callingHome()
  const server = await startWorkflowServer({ workers: WORKERS, slots: SLOTS, env: CALLS_MAY_LEAVE })
  onTestFinished(() => server.stop())
  const names = Array.from({ length: WIDTH }, (_, at) => `name${at}`)
  const at = folderOf({ 'flow.cwl': JSON.stringify(workflow(home.port)), 'job.json': JSON.stringify({ names }) })
  const words = [
    'run',
    '--server',
    server.url,
    '--quiet',
    `--outdir=${at}/out`,
    join(at, 'flow.cwl'),
    join(at, 'job.json'),
  ]
  const running = startCwl(words).ended

  await home.count(12)
  await server.killServer()
  const calledBefore = home.heard.length
  await server.startServer()
  const { exitCode, stdout, stderr }: CwlEnd = await running

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const { last, all } = JSON.parse(stdout) as { last: Told; all: readonly Told[] }
  expect(readFileSync(last.path, 'utf8')).toBe(`link${CHAIN - 1}\n`)
  expect(all.map(({ path }) => readFileSync(path, 'utf8').trim())).toEqual(names)
  expect(calledBefore).toBeLessThan(CHAIN + WIDTH)
  const everyone = [...names, ...Array.from({ length: CHAIN }, (_, link) => `link${link}`)]
  expect([...new Set(home.heard)].sort()).toEqual(everyone.sort())
  // Only steps that were running at that moment may have started again.
  expect(home.heard.length - everyone.length).toBeLessThanOrEqual(WORKERS * SLOTS)
})
