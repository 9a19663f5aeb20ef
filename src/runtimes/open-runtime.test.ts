import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isolatesAs } from '../model/isolation.ts'
import { launcherBy, launcherOptions } from './bare/bare.fixture.ts'
import { openRuntime, type RuntimeDeps, type RuntimeOptions } from './open-runtime.ts'
import { emptyRoom, realClock, runOf, shell, testWhere } from './run/rooms.fixture.ts'

const isRoot = process.getuid?.() === 0
const asRoot = testWhere(isRoot, 'only root can give rooms to another user')

async function opened(wish: RuntimeOptions, more: Partial<RuntimeDeps> = {}) {
  const options = launcherOptions(true)
  const launcher = launcherBy('direct', options)
  const folder = mkdtempSync(join(tmpdir(), 'windlass-open-'))
  const uid = process.getuid?.() ?? 0
  const deps = { launcher, clock: realClock, env: [], outputBytes: 1 << 20, arch: process.arch, uid, folder, ...more }
  const close = async (): Promise<void> => {
    await launcher.close()
    for (const each of [options.folder, folder]) rmSync(each, { recursive: true, force: true })
  }
  return { folder, deps, [Symbol.asyncDispose]: close, open: () => openRuntime(wish, deps) }
}

describe("runtime 'strongest'", () => {
  test('the strongest runtime that works is opened, with a report of each runtime tried, and runs commands', async () => {
    await using at = await opened('strongest')
    const { runtime, probe, tried } = await at.open()
    expect(isolatesAs(probe.isolation, 'namespaces')).toBe(true)
    expect(tried.at(-1)).toMatchObject({ name: runtime.name, probe: { works: true } })
    using room = emptyRoom()
    const end = await runtime.run(runOf(shell('hostname'), { room }), new AbortController().signal)
    expect([end.cause, Buffer.from(end.stdout.bytes).toString()]).toEqual(['ok', 'windlass\n'])
  })

  test('the next runtime is opened when the first does not work, and the reason is reported', async () => {
    await using at = await opened('strongest', { arch: 'mips' })
    const { runtime, tried } = await at.open()
    expect(runtime.name).toBe('unshare')
    expect(tried[0]).toMatchObject({
      name: 'sandbox',
      probe: { works: false, reason: expect.stringContaining('mips') },
    })
  })

  asRoot('rooms run as user 65521, or as root where that user cannot reach the folder', async () => {
    await using at = await opened('strongest')
    expect((await at.open()).user).toEqual({ uid: 65_521, gid: 65_521 })
    const behind = join(at.folder, 'closed')
    await using other = await opened('strongest', { folder: join(behind, 'rooms') })
    await other.open() // creates the folder
    chmodSync(behind, 0o700)
    const { user, probe, tried } = await other.open()
    expect([user, tried.length]).toEqual([undefined, 2])
    expect(probe.notes.join()).toContain('rooms run as root under another uid')
  })
})

test('bare is opened only when it is named', async () => {
  await using at = await opened('bare')
  expect(await at.open()).toMatchObject({ runtime: { name: 'bare' }, probe: { isolation: 'none' }, user: undefined })
})

test('a named runtime that does not work is unavailable, with the reason', async () => {
  await using at = await opened('sandbox', { arch: 'mips' })
  await expect(at.open()).rejects.toMatchObject({
    fault: { kind: 'unavailable', what: expect.stringMatching(/sandbox runtime does not work here .*mips/) },
  })
})

test('isolatesAs orders none, namespaces and sandbox', () => {
  expect(isolatesAs('sandbox', 'namespaces')).toBe(true)
  expect(isolatesAs('sandbox', 'sandbox')).toBe(true)
  expect(isolatesAs('namespaces', 'sandbox')).toBe(false)
  expect(isolatesAs('none', 'none')).toBe(true)
})
