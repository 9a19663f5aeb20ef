import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderOf, shellTool } from '../cwl/documents.ts'
import { cwlHere } from '../cwl/run-here.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from '../rooms/docker-daemon.ts'
import { startWorkflowServer, type WorkflowServer } from './workflow-server.ts'

const why = whyNoDocker()
const skipping = why === undefined ? {} : { skip: true, meta: { skipReason: why } }

describe('steps in containers, by way of a server', { timeout: 120_000, ...skipping }, () => {
  let engine: RunningEngine
  let server: WorkflowServer
  beforeAll(async () => {
    engine = await startDocker()
    server = await startWorkflowServer({
      workers: 1,
      env: { WINDLASS_WORKER_BACKEND: 'docker', DOCKER_HOST: `unix://${engine.socketPath}` },
    })
  }, 120_000)
  afterAll(async () => {
    await server?.stop()
    await engine?.stop()
  })

  const run = (at: string, ...words: readonly string[]) =>
    cwlHere('run', '--server', server.url, '--quiet', `--outdir=${at}/out`, ...words.map((one) => join(at, one)))

  test('see the image and their inputs, and leave their outputs', async () => {
    const tool = shellTool('test ! -e /usr/bin/env && tr a-z A-Z <"$1"', {
      words: ['$(inputs.text.path)'],
      inputs: { text: 'File' },
      requirements: { DockerRequirement: { dockerPull: IMAGE } },
      stdout: 'said',
      outputs: { out: 'stdout' },
    })
    const job = JSON.stringify({ text: { class: 'File', location: 'a b' } })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, 'a b': 'mine\n' })
    const { exitCode, stderr } = await run(at, 'tool.cwl', 'job.json')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(readFileSync(join(at, 'out/said'), 'utf8')).toBe('MINE\n')
  })

  test('what only a container of another kind can do is unsupported', async () => {
    const requirements = { DockerRequirement: { dockerPull: IMAGE, dockerOutputDirectory: '/elsewhere' } }
    const at = folderOf({ 'tool.cwl': shellTool('true', { requirements }) })
    expect((await run(at, 'tool.cwl')).exitCode).toBe(33)
  })
})
