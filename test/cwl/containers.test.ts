import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireTool } from '../../src/testing/require.ts'
import { IMAGE, startDocker, whyNoDocker } from '../rooms/docker-daemon.ts'
import { busyboxRootfs } from '../rooms/docker-image.ts'
import { whyNoPodman } from '../rooms/docker-podman.ts'
import { folderOf, shellTool } from './documents.ts'
import { cwlHere } from './run-here.ts'

/** Podman's defaults request higher limits than some machines allow. */
const CONTAINERS = `[containers]
default_ulimits = ["nofile=1024:20000","nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`
/** The runner obtains images by the docker program, besides the socket. */
const noDocker = (): string | undefined => {
  const { present, reason } = requireTool('docker')
  return whyNoDocker() ?? (present ? undefined : reason)
}
const docker = { DockerRequirement: { dockerPull: IMAGE } }
const file = (glob: string) => ({ type: 'File', outputBinding: { glob } })

interface EngineForTest {
  /** The program that lists its containers. */
  readonly program: string
  stop(): void | Promise<void>
}

async function startEngine(): Promise<EngineForTest> {
  const engine = await startDocker()
  process.env.DOCKER_HOST = `unix://${engine.socketPath}`
  return { program: 'docker', stop: engine.stop }
}

/** Without a service: the runner starts its own. */
async function usePodman(): Promise<EngineForTest> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-cwl-podman-'))
  for (const name of ['run', 'graph']) mkdirSync(join(folder, name))
  const storage = `[storage]\ndriver = "overlay"\nrunroot = "${folder}/run"\ngraphroot = "${folder}/graph"\n`
  writeFileSync(join(folder, 'storage.conf'), storage)
  writeFileSync(join(folder, 'containers.conf'), CONTAINERS)
  process.env.CONTAINERS_STORAGE_CONF = join(folder, 'storage.conf')
  process.env.CONTAINERS_CONF = join(folder, 'containers.conf')
  process.env.DOCKER_HOST = `unix://${folder}/no-docker` // forces podman, also where docker works
  const root = busyboxRootfs(folder, requireTool('busybox').command ?? '')
  spawnSync('tar', ['-C', root, '-cf', join(folder, 'image.tar'), '.'])
  spawnSync('podman', ['import', '--change', 'ENV PATH=/bin', join(folder, 'image.tar'), IMAGE])
  return {
    program: 'podman',
    stop() {
      spawnSync('podman', ['system', 'reset', '--force'])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

describe.each([
  { name: 'Docker', reason: noDocker(), open: startEngine },
  { name: 'Podman', reason: whyNoPodman('rootful'), open: usePodman },
])('CWL commands in containers of $name', ({ reason, open }) => {
  const isSkipped = reason !== undefined
  const skip = { skip: isSkipped, meta: { skipReason: reason ?? '' } }
  let engine: EngineForTest | undefined
  const containersLeft = (): string =>
    spawnSync(engine?.program ?? '', ['ps', '--all', '--quiet'], { encoding: 'utf8' }).stdout

  beforeAll(async () => {
    if (!isSkipped) engine = await open()
  }, 120_000)

  afterAll(() => engine?.stop(), 60_000)

  const run = (at: string, ...words: readonly string[]) =>
    cwlHere('run', '--quiet', `--outdir=${at}/out`, ...words.map((one) => join(at, one)))

  test("have the image's files, read-only inputs and no network, and their outputs are kept", skip, async () => {
    const script =
      'wc -l </etc/passwd; cat "$1"; grep -o "[a-z0-9]*:" /proc/net/dev | tr -d :; echo x 2>/dev/null >>"$1" || echo read-only'
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

  test('may return a symlink to an input, which becomes a file, and fail with one into the image', skip, async () => {
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

  test('are killed at their time limit, and their containers are removed', skip, async () => {
    const requirements = { ...docker, ToolTimeLimit: { timelimit: 4 } }
    const at = folderOf({ 'tool.cwl': shellTool('sleep 600', { requirements }) })
    expect((await run(at, 'tool.cwl')).exitCode).toBe(1)
    expect(containersLeft()).toBe('')
  })

  test('exit with 33 when a required image cannot be pulled', skip, async () => {
    const requirements = { DockerRequirement: { dockerPull: 'localhost:1/nothing:1' } }
    const at = folderOf({ 'tool.cwl': shellTool('true', { requirements }) })
    const end = await run(at, 'tool.cwl')
    expect(end.exitCode).toBe(33)
    expect(end.stderr).toContain('the image localhost:1/nothing:1 cannot be had')
  })

  test('have dockerOutputDirectory as working directory, and files at absolute entrynames', skip, async () => {
    const tool = shellTool('pwd; cat /etc/tool.conf; cat "$1"; ln -s /job/said again', {
      words: ['$(inputs.text.path)'],
      inputs: { text: 'File' },
      requirements: {
        DockerRequirement: { dockerPull: IMAGE, dockerOutputDirectory: '/job' },
        InitialWorkDirRequirement: { listing: [{ entry: '$(inputs.text)', entryname: '/etc/tool.conf' }] },
      },
      stdout: 'said',
      outputs: { out: 'stdout', again: file('again') },
    })
    const job = JSON.stringify({ text: { class: 'File', location: 'data' } })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, data: 'mine\n' })
    expect(await run(at, 'tool.cwl', 'job.json')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readFileSync(`${at}/out/said`, 'utf8')).toBe('/job\nmine\nmine\n')
    expect(readFileSync(`${at}/out/again`, 'utf8')).toBe('/job\nmine\nmine\n')
  })

  test.each([
    ['a copy by default', {}, 'before'],
    ['the input itself where that is asked for', { InplaceUpdateRequirement: { inplaceUpdate: true } }, 'after'],
  ])('have as a writable input %s', skip, async (_, more, left) => {
    const listing = [{ entry: '$(inputs.text)', writable: true }]
    const requirements = { ...docker, InitialWorkDirRequirement: { listing }, ...more }
    const tool = shellTool('printf after > data.txt', {
      ...{ inputs: { text: 'File' }, requirements, outputs: { out: file('data.txt') } },
    })
    const job = JSON.stringify({ text: { class: 'File', location: 'data.txt' } })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, 'data.txt': 'before' })
    expect(await run(at, 'tool.cwl', 'job.json')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readFileSync(`${at}/out/data.txt`, 'utf8')).toBe('after')
    expect(readFileSync(`${at}/data.txt`, 'utf8')).toBe(left)
  })

  test('have input directories mounted, and run in an image built from dockerFile', skip, async () => {
    const dockerFile = `FROM ${IMAGE}\nENV GREETING=hello\n`
    const tool = shellTool('echo $GREETING; ls "$1"', {
      words: ['$(inputs.data.path)'],
      inputs: { data: 'Directory' },
      requirements: { DockerRequirement: { dockerFile, dockerImageId: 'localhost/windlass-built:1' } },
      stdout: 'said',
      outputs: { out: 'stdout' },
    })
    const job = JSON.stringify({ data: { class: 'Directory', location: 'd' } })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, 'd/a': 'a', 'd/b': 'b' })
    expect(await run(at, 'tool.cwl', 'job.json')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readFileSync(`${at}/out/said`, 'utf8')).toBe('hello\na\nb\n')
  })
})
