import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderOf, shellTool } from '../cwl/documents.ts'
import { cwlHere } from '../cwl/run-here.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from '../rooms/docker-daemon.ts'
import { importImage } from '../rooms/docker-image.ts'
import { startWorkflowServer, type WorkflowServer } from './workflow-server.ts'

const why = whyNoDocker()
const skipping = why === undefined ? {} : { skip: true, meta: { skipReason: why } }

describe('CWL steps in containers on a server', skipping, () => {
  let engine: RunningEngine
  let server: WorkflowServer
  beforeAll(async () => {
    engine = await startDocker()
    server = await startWorkflowServer({
      workers: 1,
      env: {
        WINDLASS_WORKER_BACKEND: 'docker',
        WINDLASS_WORKER_DOCKER_IMAGE: IMAGE,
        DOCKER_HOST: `unix://${engine.socketPath}`,
      },
    })
  })
  afterAll(async () => {
    await server?.stop()
    await engine?.stop()
  })

  const run = (at: string, ...words: readonly string[]) =>
    cwlHere('run', '--server', server.url, '--quiet', `--outdir=${at}/out`, ...words.map((one) => join(at, one)))

  test("have the image's files and their inputs, and return their outputs", async () => {
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

  test('have dockerOutputDirectory as working directory, and symlinks through it are followed', async () => {
    const requirements = { DockerRequirement: { dockerPull: IMAGE, dockerOutputDirectory: '/job/here' } }
    const script = 'pwd; echo $HOME; echo made >/job/here/made; ln -s /job/here/made linked'
    const outputs = { said: 'stdout', made: file('/job/here/made'), linked: file('linked') }
    const at = folderOf({ 'tool.cwl': shellTool(script, { requirements, outputs, stdout: 'said' }) })
    const { exitCode, stderr } = await run(at, 'tool.cwl')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const read = ['said', 'made', 'linked'].map((name) => readFileSync(join(at, 'out', name), 'utf8'))
    expect(read).toEqual(['/job/here\n/job/here\n', 'made\n', 'made\n'])
  })

  test('find files at absolute entrynames, writable only when requested', async () => {
    const listing = [
      { entryname: '/srv/conf/tool.conf', entry: 'words' },
      { entryname: '/data/mine', entry: '$(inputs.text)', writable: true },
    ]
    const requirements = { DockerRequirement: { dockerPull: IMAGE }, InitialWorkDirRequirement: { listing } }
    const script =
      'cat /srv/conf/tool.conf; echo x 2>/dev/null >>/srv/conf/tool.conf || echo no; echo x >>/data/mine; cat /data/mine'
    const more = { requirements, inputs: { text: 'File' }, stdout: 'said', outputs: { said: 'stdout' } }
    const job = JSON.stringify({ text: { class: 'File', location: 'a' } })
    const at = folderOf({ 'tool.cwl': shellTool(script, more), 'job.json': job, a: 'a\n' })
    const { exitCode, stderr } = await run(at, 'tool.cwl', 'job.json')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(readFileSync(join(at, 'out/said'), 'utf8')).toBe('wordsno\na\nx\n')
  })

  test("run the image's ENTRYPOINT, with its output in the redirected file", async () => {
    const name = 'localhost/begins:latest'
    const changes = ['ENV PATH=/bin', 'ENTRYPOINT ["echo", "begun"]']
    await importImage({ socketPath: engine.socketPath, root: engine.root, name, changes })
    const tool = {
      cwlVersion: 'v1.2',
      class: 'CommandLineTool',
      requirements: { DockerRequirement: { dockerPull: name } },
      inputs: {},
      baseCommand: ['-n', 'words'],
      stdout: 'said',
      outputs: { said: 'stdout' },
    }
    const at = folderOf({ 'tool.cwl': JSON.stringify(tool) })
    expect((await run(at, 'tool.cwl')).exitCode).toBe(0)
    expect(readFileSync(join(at, 'out/said'), 'utf8')).toBe('begun -n words\n')
  })

  test.each([
    [{ dockerFile: 'FROM scratch' }, 'workers take images by name only'],
    [{ dockerLoad: 'http://images.example/image.tar' }, 'workers take images by name only'],
    [{ dockerImport: 'http://images.example/image.tar' }, 'workers take images by name only'],
    [{ dockerPull: IMAGE, dockerOutputDirectory: '/tmp/x' }, 'nothing can be shown at "/tmp/x"'],
  ])('exit 33 with an unsupported DockerRequirement, and ignore it as a hint: %o', async (options, words) => {
    const at = folderOf({
      'hard.cwl': shellTool('true', { requirements: { DockerRequirement: options } }),
      'soft.cwl': shellTool('true', { hints: { DockerRequirement: options } }),
    })
    const { exitCode, stderr } = await run(at, 'hard.cwl')
    expect(exitCode).toBe(33)
    expect(stderr).toContain(words)
    expect((await run(at, 'soft.cwl')).exitCode).toBe(0)
  })
})

const file = (glob: string) => ({ type: 'File', outputBinding: { glob } })
