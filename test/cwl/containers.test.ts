import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireTool } from '../../src/testing/require.ts'
import { busyboxRootfs } from '../rooms/docker-image.ts'
import { whyNoPodman } from '../rooms/docker-podman.ts'
import { folderOf, shellTool } from './documents.ts'
import { cwlHere } from './run-here.ts'

const reason = whyNoPodman('rootful')
/** By itself it asks for more than some machines let it have. */
const CONTAINERS = `[containers]
default_ulimits = ["nofile=1024:20000","nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`
const IMAGE = 'localhost/windlass-busybox:1'
const docker = { DockerRequirement: { dockerPull: IMAGE } }
const file = (glob: string) => ({ type: 'File', outputBinding: { glob } })

describe('commands in containers', { skip: reason !== undefined, meta: { skipReason: reason ?? '' } }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-cwl-podman-'))
  const podman = (...words: readonly string[]) => spawnSync('podman', words, { encoding: 'utf8' })

  beforeAll(() => {
    for (const name of ['run', 'graph']) mkdirSync(join(folder, name))
    const storage = `[storage]\ndriver = "overlay"\nrunroot = "${folder}/run"\ngraphroot = "${folder}/graph"\n`
    writeFileSync(join(folder, 'storage.conf'), storage)
    writeFileSync(join(folder, 'containers.conf'), CONTAINERS)
    process.env.CONTAINERS_STORAGE_CONF = join(folder, 'storage.conf')
    process.env.CONTAINERS_CONF = join(folder, 'containers.conf')
    process.env.DOCKER_HOST = `unix://${folder}/no-docker` // podman it is, also where docker would work
    const root = busyboxRootfs(folder, requireTool('busybox').command ?? '')
    spawnSync('tar', ['-C', root, '-cf', join(folder, 'image.tar'), '.'])
    podman('import', '--change', 'ENV PATH=/bin', join(folder, 'image.tar'), IMAGE)
  })

  afterAll(() => {
    podman('system', 'reset', '--force')
    rmSync(folder, { recursive: true, force: true })
  })

  const run = (at: string, ...words: readonly string[]) =>
    cwlHere('run', '--quiet', `--outdir=${at}/out`, ...words.map((one) => join(at, one)))

  test('see the image and their inputs, have no network, and leave their outputs here', async () => {
    const script = 'wc -l </etc/passwd; cat "$1"; ls /sys/class/net; echo x 2>/dev/null >>"$1" || echo read-only'
    const tool = shellTool(script, {
      words: ['$(inputs.text.path)'],
      inputs: { text: 'File' },
      requirements: docker,
      stdout: 'said',
      outputs: { out: 'stdout' },
    })
    const job = JSON.stringify({ text: { class: 'File', location: 'a, "b": c' } })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, 'a, "b": c': 'mine\n' })
    expect(await run(at, 'tool.cwl', 'job.json')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readFileSync(`${at}/out/said`, 'utf8')).toBe('2\nmine\nlo\nread-only\n')
  })

  test('a link to an input leads to it afterwards, and one to the system of the image to nothing', async () => {
    const more = { words: ['$(inputs.text.path)'], inputs: { text: 'File' }, requirements: docker }
    const job = JSON.stringify({ text: { class: 'File', location: 'data' } })
    const at = folderOf({
      'input.cwl': shellTool('ln -s "$1" linked', { ...more, outputs: { out: file('linked') } }),
      'system.cwl': shellTool('ln -s /etc/passwd linked', { ...more, outputs: { out: file('linked') } }),
      'job.json': job,
      data: 'data',
    })
    expect((await run(at, 'system.cwl', 'job.json')).exitCode).toBe(1)
    expect((await run(at, 'input.cwl', 'job.json')).exitCode).toBe(0)
    expect(readFileSync(`${at}/out/linked`, 'utf8')).toBe('data')
  })

  test('end with their time, and nothing of them is left', async () => {
    const requirements = { ...docker, ToolTimeLimit: { timelimit: 4 } }
    const at = folderOf({ 'tool.cwl': shellTool('sleep 600', { requirements }) })
    expect((await run(at, 'tool.cwl')).exitCode).toBe(1)
    expect(podman('ps', '--all', '--quiet').stdout).toBe('')
  })

  test('an image that cannot be had is 33 where it is required', async () => {
    const requirements = { DockerRequirement: { dockerPull: 'localhost:1/nothing:1' } }
    const at = folderOf({ 'tool.cwl': shellTool('true', { requirements }) })
    const end = await run(at, 'tool.cwl')
    expect(end.exitCode).toBe(33)
    expect(end.stderr).toContain('the image localhost:1/nothing:1 cannot be had')
  })
})
