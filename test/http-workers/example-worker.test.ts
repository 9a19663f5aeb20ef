/**
 * The worker in examples/ is written from the protocol's description alone; any such worker can do what it does here.
 */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hasSucceeded } from '../../src/model/command-task.ts'
import { ended, fileOf, runCommand, sh, stageOf, submitCommand, textOf } from '../commands/commands.ts'
import { until } from '../workers/grid.ts'
import { contentOf } from '../workers/told-results.ts'
import { startHttpGrid } from './http-grid.ts'

const EXAMPLE = resolve(import.meta.dirname, '../../examples/http-worker.mjs')

function startExample(url: string, name: string) {
  const child = spawn(process.execPath, [EXAMPLE, url, name], { stdio: ['ignore', 'inherit', 'inherit'] })
  const gone = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  return { gone, stop: () => child.kill('SIGTERM') }
}

test('the example HTTP worker runs commands with input files and uploads their outputs', async () => {
  const grid = await startHttpGrid()
  const worker = startExample(grid.url, 'by-hand')
  const { status, result } = await runCommand(grid, {
    stages: [sh('cat d/in.txt; echo "made of $(cat d/in.txt)" > out.txt; echo oops >&2')],
    inputs: { files: [fileOf('d/in.txt', 'flour')] },
    outputs: { globs: ['*.txt'] },
  })
  expect(status.worker).toMatch(/^wrk_/)
  expect(hasSucceeded(result)).toBe(true)
  const run = stageOf(result)
  expect([textOf(run.stdout), textOf(run.stderr)]).toEqual(['flour', 'oops\n'])
  expect(result.outputs.files.map(({ path }) => path)).toEqual(['out.txt'])
  expect(await contentOf(grid.blobs, result.outputs.files[0]?.digest)).toBe('made of flour\n')

  const failed = await runCommand(grid, { stages: [sh('exit 3')] })
  expect(stageOf(failed.result)).toMatchObject({ cause: 'exit', exitCode: 3 })

  const all = await Promise.all(
    Array.from({ length: 10 }, (_, i) => submitCommand(grid, { stages: [sh(`echo ${i}`)] })),
  )
  const ends = await Promise.all(all.map(({ operation }) => grid.end(operation)))
  expect(ends.map((end) => textOf(stageOf(ended(end).result).stdout))).toEqual(all.map((_, i) => `${i}\n`))

  worker.stop()
  expect(await worker.gone).toBe(0)
  expect(grid.engine.workers.list()).toEqual([])
})

test('a task of a silent HTTP worker is retried on another one', async () => {
  const grid = await startHttpGrid({ scheduler: { heartbeatTimeoutMs: 500, unhealthyAfterMs: 400 } })
  // Takes a task, and never sends anything again.
  const silent = (await grid.call('POST', '/api/v1/workers', { name: 'silent' })).json.id
  const parked = grid.call('GET', `/api/v1/workers/${silent}/work?wait=20s`)
  await until(() => grid.parked() === 1)
  const { operation } = await submitCommand(grid, { stages: [sh('echo alive')] })
  expect((await parked).status).toBe(200)
  startExample(grid.url, 'living')
  const { status, result } = ended(await grid.end(operation))
  expect(status).toMatchObject({ attempt: 2, state: 'completed' })
  expect(textOf(stageOf(result).stdout)).toBe('alive\n')
})
