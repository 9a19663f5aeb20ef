import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import type { DockerOptions } from '../../src/runtimes/docker/docker-options.ts'
import { engineBy } from '../../src/runtimes/docker/engine.ts'
import { engineSocket } from '../../src/runtimes/docker/engine-socket.ts'
import { runtimeContract } from '../../src/runtimes/run/contract.ts'
import { limitedByDefault } from '../../src/runtimes/run/resource-limits.ts'
import { emptyRoom, realClock, runOf, shell } from '../../src/runtimes/run/rooms.fixture.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'
import { importImage } from './docker-image.ts'

const why = whyNoDocker()
const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('rooms of Docker', why === undefined ? {} : { skip: true, meta: { skipReason: why } }, () => {
  let engine: RunningEngine
  beforeAll(async () => {
    engine = await startDocker()
  })
  afterAll(() => engine?.stop())
  const made = (more: Partial<DockerOptions> = {}) => dockerBy(engine.socketPath, IMAGE, more)
  const containers = (worker: string) =>
    engineBy(engineSocket(engine.socketPath, realClock)).labelled(`windlass.worker=${worker}`)

  runtimeContract('with control groups around containers', async () => made())

  test('have their own host name, user and read-only files', async () => {
    await using by = made()
    using room = emptyRoom()
    const script =
      'hostname; id -u; pwd; touch /x /etc/x /dev/x 2>/dev/null && echo written; ls /sys/fs/cgroup/memory/tasks >/dev/null && echo $$ > /sys/fs/cgroup/memory/tasks; ls /home /srv 2>/dev/null'
    const end = await by.runtime.run(runOf(shell(script), { room }), never)
    expect(text(end.stdout.bytes)).toBe('windlass\n65522\n/room\n')
  })

  test('enforce limits and sample usage without control groups of the worker', async () => {
    await using by = made({ useGroups: false })
    using room = emptyRoom()
    const go = (script: string, limits: object, name: string) =>
      by.runtime.run(
        runOf(shell(script), {
          room: { ...room, name: `${room.name}-${name}` },
          limits: { wallMs: 20_000, ...limits },
        }),
        never,
      )
    const burnt = await go('while :; do :; done', { cpuMs: 400 }, 'cpu')
    expect(burnt).toMatchObject({ cause: 'cpu-time', usage: { how: 'sampled' } })
    const grow = 'awk \'BEGIN { s = "x"; while (length(s) < 2000000000) s = s s }\''
    expect(await go(grow, { memoryBytes: 64 << 20 }, 'memory')).toMatchObject({ cause: 'out-of-memory' })
    // The shell exits with 0, so the out-of-memory kill of its child is not reported.
    expect(await go(`${grow}; exit 0`, { memoryBytes: 64 << 20 }, 'child')).toMatchObject({ cause: 'ok' })
    expect(await go('kill -KILL $$', { memoryBytes: 64 << 20 }, 'kill')).toMatchObject({ cause: 'signal' })
    expect(await go('cat /dev/zero > f', { diskBytes: 2_000_000 }, 'disk')).toMatchObject({ cause: 'disk-limit' })
  })

  test("have the worker's default limits of memory and processes when none are requested", async () => {
    await using by = made()
    using room = emptyRoom()
    const limited = limitedByDefault(by.runtime, { memoryBytes: 64 << 20, pids: 20 })
    const go = (script: string, name: string) =>
      limited.run(runOf(shell(script), { room: { ...room, name: `${room.name}-${name}` }, limits: {} }), never)
    const grow = 'exec awk \'BEGIN { s = "x"; while (length(s) < 2000000000) s = s s }\''
    expect(await go(grow, 'memory')).toMatchObject({ cause: 'out-of-memory' })
    const forked = await go('for i in $(seq 60); do sleep 60 & done', 'forks')
    expect(text(forked.stderr.bytes)).toContain("can't fork")
  })

  test('report a SIGKILL below the memory limit as a signal, not as out-of-memory', async () => {
    await using by = made()
    using room = emptyRoom()
    const end = await by.runtime.run(runOf(shell('kill -KILL $$'), { room, limits: { memoryBytes: 64 << 20 } }), never)
    expect(end).toMatchObject({ cause: 'signal', usage: { how: 'counted' } })
    expect(end.usage.peakMemoryBytes).toBeGreaterThan(0)
  })

  test('report too many arguments as not-started with E2BIG', async () => {
    await using by = made()
    using room = emptyRoom()
    const argv = ['echo', ...Array.from({ length: 40 }, () => 'x'.repeat(100_000))]
    const end = await by.runtime.run(runOf(argv, { room }), never)
    expect(end, text(end.stderr.bytes)).toMatchObject({
      cause: 'not-started',
      exitCode: 126,
      reason: expect.stringContaining('E2BIG'),
    })
  })

  test('leave no container and no control group behind, however a run ends', async () => {
    await using by = made()
    using room = emptyRoom()
    const abort = new AbortController()
    const run = (name: string, argv: readonly string[], more: object = {}) =>
      by.runtime.run(runOf(argv, { room: { ...room, name: `${room.name}-${name}` }, ...more }), abortFor(name))
    const abortFor = (name: string) => (name === 'cancelled' ? abort.signal : never)
    const ends = await Promise.all([
      run('ok', ['true']),
      run('late', ['sleep', '60'], { limits: { wallMs: 100 } }),
      run('cancelled', shell('echo x; sleep 60'), { hooks: { stdout: () => abort.abort() } }),
      run('unknown', ['no-such-program']),
      run('broken', ['true'], { room: { ...room, name: `${room.name}-broken`, readOnly: ['nowhere'] } }).catch(() => ({
        cause: 'invalid',
      })),
    ])
    expect(ends.map(({ cause }) => cause)).toEqual(['ok', 'timeout', 'cancelled', 'not-started', 'invalid'])
    expect(await containers(by.options.worker)).toEqual([])
    expect(groupsWith(room.name)).toEqual([])
  })

  test('of a previous worker process are removed at its next start', async () => {
    await using earlier = made()
    using room = emptyRoom()
    const started = Promise.withResolvers<void>()
    const hooks = { started: started.resolve }
    const left = earlier.runtime.run(runOf(['sleep', '60'], { room, hooks }), never)
    await started.promise
    expect(await containers(earlier.options.worker)).toHaveLength(1)
    await using other = made()
    expect((await other.runtime.probe()).works).toBe(true)
    expect(await containers(earlier.options.worker)).toHaveLength(1) // it belongs to another worker, and is kept
    await using later = made({ worker: earlier.options.worker })
    expect((await later.runtime.probe()).works).toBe(true)
    expect(await containers(earlier.options.worker)).toEqual([])
    await left.catch(() => {})
  })

  test('mount a limited tmpfs for each VOLUME of an image, and create no volume', async () => {
    const name = 'localhost/greedy:latest'
    const changes = ['ENV PATH=/odd:/bin', 'VOLUME /data', 'ENTRYPOINT ["/bin/false"]', 'USER root', 'WORKDIR /etc']
    await importImage({ socketPath: engine.socketPath, root: engine.root, name, changes })
    await using by = made()
    using room = emptyRoom()
    const script =
      'echo $PATH; id -u; pwd; grep " /data " /proc/mounts | cut -d" " -f1; head -c 3000000 /dev/zero > /data/f; [ $(wc -c < /data/f) -lt 3000000 ] && echo full'
    const command = { image: name, env: [] }
    const end = await by.runtime.run(runOf(shell(script), { room, command, limits: { diskBytes: 2_000_000 } }), never)
    expect(text(end.stdout.bytes)).toBe('/odd:/bin\n65522\n/room\ntmpfs\nfull\n')
    expect(readdirSync(`${engine.folder}/data/volumes`).filter((each) => /^[0-9a-f]{64}$/.test(each))).toEqual([])
  })

  test('name a missing image, and refuse a task without an image', async () => {
    await using by = made()
    using room = emptyRoom()
    const run = (image: string) => by.runtime.run(runOf(['true'], { room, command: { image } }), never)
    await expect(run('docker://nobody/has-this:1')).rejects.toMatchObject({
      fault: { kind: 'unavailable', what: expect.stringContaining('docker.io/nobody/has-this:1') },
    })
    await expect(run('--privileged')).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    // A worker with Apptainer may accept a path: the grid tries another worker.
    await expect(run('/etc/passwd')).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    await using without = made({ images: { pull: 'never', maxBytes: 1, image: undefined } })
    await expect(without.runtime.run(runOf(['true'], { room }), never)).rejects.toMatchObject({
      fault: { kind: 'unavailable', what: expect.stringContaining('names no container image') },
    })
  })
})

test('the docker backend without an engine does not work, and the error names the socket', async () => {
  await using by = dockerBy('/nowhere/docker.sock', IMAGE)
  expect(await by.runtime.probe()).toMatchObject({
    works: false,
    reason: expect.stringContaining('/nowhere/docker.sock'),
  })
})

/** The control groups of our containers with this name, in any hierarchy. */
function groupsWith(name: string): string[] {
  if (!existsSync('/sys/fs/cgroup')) return []
  const tops = ['', ...readdirSync('/sys/fs/cgroup')].map((each) => `/sys/fs/cgroup/${each}`)
  return tops
    .flatMap((top) =>
      namesIn(top)
        .filter((each) => each.startsWith('windlass-containers-'))
        .map((each) => `${top}/${each}`),
    )
    .flatMap((path) => namesIn(path).filter((each) => each.startsWith(name)))
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
