import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BareUnderTest } from '../../src/runtimes/bare/bare.fixture.ts'
import { dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { emptyRoom, runOf, shell } from '../../src/runtimes/run/rooms.fixture.ts'
import type { RunEnd } from '../../src/runtimes/run/runtime.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'
import { whyNoCgroup2 } from './guest/why-no-cgroup2.ts'

/** What only version 2 tells of a container; all else is in docker.test.ts. A processor in software takes its time. */
const why = whyNoCgroup2() ?? whyNoDocker()
const options = why === undefined ? { timeout: 300_000 } : { skip: true, meta: { skipReason: why } }
const never = new AbortController().signal

describe('rooms by Docker on control groups of version 2', options, () => {
  let engine: RunningEngine
  let driver: Pick<BareUnderTest, 'runtime' | 'close'>
  beforeAll(async () => {
    engine = await startDocker()
    driver = dockerBy(engine.socketPath, IMAGE)
  }, 300_000)
  afterAll(async () => {
    await driver?.close()
    await engine?.stop()
  })

  const go = async (script: string, limits: object): Promise<RunEnd> => {
    using room = emptyRoom()
    return await driver.runtime.run(runOf(shell(script), { room, limits: { wallMs: 250_000, ...limits } }), never)
  }

  test('the limits are in the group of the container', options, async () => {
    const end = await go('cd /sys/fs/cgroup; cat memory.max pids.max cpu.max', {
      memoryBytes: 64 << 20,
      pids: 20,
      cpus: 0.5,
    })
    expect(Buffer.from(end.stdout.bytes).toString()).toBe(`${64 << 20}\n21\n50000 100000\n`)
  })

  test('want of memory is told apart from a crash, and what was used is counted', options, async () => {
    const memoryBytes = 64 << 20
    // Not so much that swap would not have had the room for it.
    const grow = 'awk \'BEGIN { s = "x"; while (length(s) < 100000000) s = s s }\''
    const end = await go(grow, { memoryBytes })
    expect(end).toMatchObject({ cause: 'out-of-memory', usage: { how: 'counted' } })
    expect(end.usage.peakMemoryBytes).toBeGreaterThan(memoryBytes / 2)
    expect(await go('kill -KILL $$', { memoryBytes })).toMatchObject({ cause: 'signal', signal: 'SIGKILL' })
  })
})
