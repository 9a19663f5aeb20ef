import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { requireTool, testWith } from '../../testing/require.ts'
import { emptyRoom, runOf, shell } from '../run/rooms.fixture.ts'
import { sandboxBy } from '../sandbox/sandbox.fixture.ts'
import { seccompFilter } from '../sandbox/seccomp/filter.ts'
import { ROOM_RULES, SYSTEM_V_RULES } from '../sandbox/seccomp/rules.ts'
import { unshareBy } from '../unshare/unshare.fixture.ts'
import { ipcSettings } from './ipc-limits.ts'

const MIB = 1 << 20
const valuesFor = (bytes: number) => Object.fromEntries(ipcSettings(bytes).map(({ name, value }) => [name, value]))

test('ipcSettings limits segments to the memory of a room, messages and semaphores to an eighth of it each', () => {
  const { shmall, shmmax, msgmnb, msgmni, sem } = valuesFor(64 * MIB)
  expect(Number(shmall) * 4096).toBeLessThanOrEqual(64 * MIB)
  expect(Number(shmmax)).toBe(64 * MIB)
  expect(Number(msgmnb) * Number(msgmni) * 64).toBeLessThanOrEqual(8 * MIB)
  const [, semaphores, , sets] = (sem as string).split(' ').map(Number) as number[]
  expect((semaphores as number) * 128).toBeLessThanOrEqual(8 * MIB)
  expect((sets as number) * 1024).toBeLessThanOrEqual(8 * MIB)
})

test('ipcSettings gives values that the kernel accepts for any limit', () => {
  for (const bytes of [1, 4096, MIB, 2 ** 40, 2 ** 50])
    for (const value of Object.values(valuesFor(bytes)))
      for (const number of value.split(' ')) {
        expect(Number(number)).toBeGreaterThanOrEqual(1)
        expect(number).toMatch(/^\d+$/)
      }
})

const by = { way: 'direct', useGroups: false } as const
const KINDS = [
  { kind: 'unshare', tool: 'unshare', open: () => unshareBy(by) },
  { kind: 'sandbox', tool: 'bwrap', open: () => sandboxBy(by) },
] as const

describe.each(KINDS)('room by $kind without a control group', ({ tool, open }) => {
  const { present, reason } = requireTool(tool)
  const options = present ? {} : { skip: true, meta: { skipReason: reason } }

  test('a room can use System V memory up to its limit, and cannot raise the limit', options, async (context) => {
    await using rooms = open()
    const probe = await rooms.runtime.probe()
    const old = probe.works ? probe.notes.find((note) => note.includes('System V')) : undefined
    if (old !== undefined) context.skip(old)
    using room = emptyRoom()
    const script = `
      ipcmk -M 1000000 > /dev/null && echo small
      ipcmk -M 100000000 > /dev/null 2>&1 || echo refused
      (echo 1000000000 > /proc/sys/kernel/shmall) 2>/dev/null || echo closed
      ls -A /tmp; cat /proc/sys/kernel/shmmax`
    const run = runOf(shell(script), { room, limits: { memoryBytes: 64 * MIB } })
    const { stdout } = await rooms.runtime.run(run, new AbortController().signal)
    expect(Buffer.from(stdout.bytes).toString()).toBe(`small\nrefused\nclosed\n${64 * MIB}\n`)
  })
})

testWith('bwrap', 'where System V IPC cannot be limited, ipcmk fails with ENOSYS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-filter-'))
  const file = join(folder, 'filter')
  writeFileSync(file, seccompFilter(arch(), [...ROOM_RULES, ...SYSTEM_V_RULES]) as Uint8Array)
  for (const flag of ['-M', '-S']) {
    const filter = openSync(file, 'r')
    const args = ['--unshare-all', '--ro-bind', '/', '/', '--seccomp', '3', '--', 'ipcmk', flag, '1']
    const { status, stderr } = spawnSync(requireTool('bwrap').command as string, args, {
      stdio: ['ignore', 'pipe', 'pipe', filter],
      encoding: 'utf8',
    })
    closeSync(filter)
    expect([status, stderr]).toEqual([1, expect.stringContaining('Function not implemented')])
  }
  rmSync(folder, { recursive: true })
})
