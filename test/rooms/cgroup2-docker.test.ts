import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BareUnderTest } from '../../src/runtimes/bare/bare.fixture.ts'
import { dockerBy } from '../../src/runtimes/docker/docker.fixture.ts'
import { emptyRoom, runOf, shell } from '../../src/runtimes/run/rooms.fixture.ts'
import type { RunEnd } from '../../src/runtimes/run/runtime.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'
import { whyNoCgroup2 } from './guest/why-no-cgroup2.ts'

/**
 * Only what version 2 adds for containers; everything else is in docker.test.ts. The timeouts allow for an emulated
 * processor.
 */
const why = whyNoCgroup2() ?? whyNoDocker()
const options = why === undefined ? { timeout: 300_000 } : { skip: true, meta: { skipReason: why } }
const never = new AbortController().signal

describe('rooms of Docker with cgroup v2', options, () => {
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

  test("set the limits on the container's control group", options, async () => {
    const end = await go('cd /sys/fs/cgroup; cat memory.max pids.max cpu.max', {
      memoryBytes: 64 << 20,
      pids: 20,
      cpus: 0.5,
    })
    expect(Buffer.from(end.stdout.bytes).toString()).toBe(`${64 << 20}\n21\n50000 100000\n`)
  })

  test('distinguish out-of-memory from a crash, and measure usage by the control group', options, async () => {
    const memoryBytes = 64 << 20
    // Small enough to have fitted into swap.
    const grow = 'awk \'BEGIN { s = "x"; while (length(s) < 100000000) s = s s }\''
    const end = await go(grow, { memoryBytes })
    expect(end).toMatchObject({ cause: 'out-of-memory', usage: { how: 'counted' } })
    expect(end.usage.peakMemoryBytes).toBeGreaterThan(memoryBytes / 2)
    expect(await go('kill -KILL $$', { memoryBytes })).toMatchObject({ cause: 'signal', signal: 'SIGKILL' })
  })
})
