import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BareUnderTest, bareBy } from '../../src/runtimes/bare/bare.fixture.ts'
import { emptyRoom, runOf, shell } from '../../src/runtimes/run/rooms.fixture.ts'
import type { RunEnd } from '../../src/runtimes/run/runtime.ts'
import { sandboxBy } from '../../src/runtimes/sandbox/sandbox.fixture.ts'
import { requireTool } from '../../src/testing/require.ts'
import { TOP, whyNoCgroup2 } from './guest/why-no-cgroup2.ts'

/**
 * Behaviour of cgroup v2 that differs from v1. On a machine without cgroup v2 these tests run in a guest: see
 * cgroup2-in-guest.ts. They measure no time that a slow machine would stretch.
 */
const WORKER = fileURLToPath(new URL('./guest/worker-in-group.ts', import.meta.url))
const LONG = 300_000
const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

const why = whyNoCgroup2()
const options = why === undefined ? { timeout: LONG } : { skip: true, meta: { skipReason: why } }

const DRIVERS = {
  bare: { tool: 'sh', make: () => bareBy('spawner', true) },
  sandbox: { tool: 'bwrap', make: () => sandboxBy({ way: 'spawner', useGroups: true }) },
}
/** Doubles a text until it exceeds the memory limit. */
const GROW = 'awk \'BEGIN { s = "x"; while (length(s) < 1000000000) s = s s }\''
const BURN = 'while :; do :; done'

describe.each(Object.keys(DRIVERS) as (keyof typeof DRIVERS)[])('cgroup v2 around %s', (name) => {
  const { tool, make } = DRIVERS[name]
  const { present, reason } = requireTool(tool)
  const all = present ? options : { skip: true, meta: { skipReason: reason } }
  let driver: BareUnderTest
  beforeAll(() => {
    if (all.skip !== true) driver = make()
  })
  afterAll(() => driver?.close())

  const go = async (script: string, limits: object): Promise<RunEnd> => {
    using room = emptyRoom()
    return await driver.runtime.run(runOf(shell(script), { room, limits: { wallMs: 120_000, ...limits } }), never)
  }

  test('enforces the limits of memory, processes and processors', all, async () => {
    const kept = { memoryBytes: 'all', pids: 'all', cpus: 'all' }
    expect(await driver.runtime.probe()).toMatchObject({ works: true, limits: kept })
  })

  test('distinguishes out-of-memory from a crash', all, async () => {
    const memoryBytes = 64 << 20
    expect(await go(GROW, { memoryBytes })).toMatchObject({ cause: 'out-of-memory', usage: { how: 'counted' } })
    expect(await go('kill -SEGV $$', { memoryBytes })).toMatchObject({ cause: 'signal', signal: 'SIGSEGV' })
    expect(await go('kill -KILL $$', { memoryBytes })).toMatchObject({ cause: 'signal', signal: 'SIGKILL' })
    expect(await go('exit 137', {})).toMatchObject({ exitCode: 137 })
  })

  test('reports out-of-memory for a killed child only if the command fails', all, async () => {
    const memoryBytes = 64 << 20
    expect(await go(`${GROW}; exit 3`, { memoryBytes })).toMatchObject({ cause: 'out-of-memory', exitCode: 3 })
    expect(await go(`${GROW}; exit 0`, { memoryBytes })).toMatchObject({ cause: 'ok' })
  })

  test('ends only the command that has a memory limit of one byte', all, async () => {
    const started = Promise.withResolvers<void>()
    using room = emptyRoom()
    const hooks = { started: started.resolve }
    const other = driver.runtime.run(runOf(shell('sleep 1; echo still here'), { room, hooks }), never)
    await started.promise
    await go(GROW, { memoryBytes: 1 })
    expect(text((await other).stdout.bytes)).toBe('still here\n')
  })

  const hasSwap = existsSync('/proc/swaps') && readFileSync('/proc/swaps', 'utf8').trim().split('\n').length > 1
  const swapping = hasSwap || all.skip ? all : { skip: true, meta: { skipReason: 'there is no swap on this machine' } }
  test('counts swap towards the memory limit', swapping, async () => {
    const some = GROW.replace('1000000000', '100000000') // which would have fitted into swap
    expect(await go(some, { memoryBytes: 64 << 20 })).toMatchObject({ cause: 'out-of-memory' })
    expect(await go(some, { memoryBytes: 600 << 20 })).toMatchObject({ cause: 'ok' })
  })

  test('limits the number of processes, and reports a refused one', all, async () => {
    const script = 'i=0; while [ $i -lt 30 ]; do sleep 60 & i=$((i+1)); done; wait'
    const end = await go(script, { pids: 8 })
    expect([end.cause, end.reason]).toEqual(['pid-limit', 'it was refused more than 8 processes'])
    expect(await go('sleep 0.1 & sleep 0.1 & wait', { pids: 8 })).toMatchObject({ cause: 'ok', reason: undefined })
  })

  test('limits the processor share of several processes together', all, async () => {
    const end = await go(`(${BURN}) & (${BURN}) & ${BURN}`, { cpus: 0.2, wallMs: 5000 })
    expect(end).toMatchObject({ cause: 'timeout', usage: { how: 'counted' } })
    const { cpuUserMs = 0, cpuSystemMs = 0, wallMs } = end.usage
    expect(cpuUserMs + cpuSystemMs).toBeGreaterThan(100)
    expect(cpuUserMs + cpuSystemMs).toBeLessThan(0.3 * wallMs + 200)
  })

  test('limits the processor time of all processes together', all, async () => {
    const end = await go(`(${BURN}) & (${BURN}) & ${BURN}`, { cpuMs: 1500 })
    expect(end.cause).toBe('cpu-time')
    expect((end.usage.cpuUserMs ?? 0) + (end.usage.cpuSystemMs ?? 0)).toBeGreaterThan(1500)
  })

  test('reports the peak memory that the kernel counted', all, async () => {
    const end = await go('head -c 40000000 /dev/zero | tail -c 40000000 | wc -c', { memoryBytes: 200 << 20 })
    expect([end.cause, end.usage.how]).toEqual(['ok', 'counted'])
    expect(end.usage.peakMemoryBytes).toBeGreaterThan(40_000_000)
    expect(end.usage.peakMemoryBytes).toBeLessThanOrEqual(200 << 20)
  })

  test('kills the whole process tree at once, also processes that left their session', all, async () => {
    const seconds = `7${name.length}3`
    const script = `sleep ${seconds} & (setsid sleep ${seconds} &); (env -i setsid sleep ${seconds} &); echo; exec sleep ${seconds}`
    using room = emptyRoom()
    const abort = new AbortController()
    const hooks = { stdout: () => abort.abort() }
    expect(await driver.runtime.run(runOf(shell(script), { room, hooks }), abort.signal)).toMatchObject({
      cause: 'cancelled',
      reason: 'it was cancelled', // no process is left
    })
    expect(running(`sleep\0${seconds}\0`)).toEqual([])
  })

  test('limits a fork bomb to its number of processes until its timeout', all, async () => {
    expect(await go('bomb() { bomb | bomb & }; bomb; sleep 60', { pids: 40, wallMs: 3000 })).toMatchObject({
      cause: 'timeout',
      reason: expect.not.stringContaining('not all of its processes'),
    })
  })

  test('leaves no group behind when it is closed', all, async () => {
    const more = make()
    using room = emptyRoom()
    await more.runtime.run(runOf(shell('sleep 60 &'), { room, limits: { cpus: 1, pids: 20 } }), never)
    expect(existsSync(`${TOP}/windlass-${more.name}`)).toBe(true)
    await more.close()
    expect(existsSync(`${TOP}/windlass-${more.name}`)).toBe(false)
  })
})

describe('a worker started in a cgroup v2 group', options, () => {
  test('moves one level down when it is alone, and delegates all controllers', options, async () => {
    await using group = groupFor()
    expect(workerIn(group.path)).toEqual({
      facts: expect.objectContaining({ tree: 'group', memory: 'all', pids: 'all', cpus: 'all' }),
      group: `${group.name}/windlass-supervisor`,
      cause: 'out-of-memory',
    })
    // A restarted worker finds the group as the first one left it.
    expect(workerIn(group.path)).toMatchObject({ facts: { memory: 'all' }, cause: 'out-of-memory' })
  })

  test('does not move other processes, runs without limits and samples memory', options, async () => {
    await using group = groupFor()
    expect(workerIn(group.path, { withOther: true })).toEqual({
      facts: expect.objectContaining({ tree: 'group', memory: 'watched', pids: 'not', cpus: 'not' }),
      group: group.name,
      cause: 'out-of-memory', // by sampling
    })
  })

  test('has all controllers as an ordinary user to whom the group was delegated', options, async () => {
    await using group = groupFor(USER)
    expect(workerIn(group.path, { user: USER })).toEqual({
      facts: expect.objectContaining({ tree: 'group', memory: 'all', pids: 'all', cpus: 'all' }),
      group: `${group.name}/windlass-supervisor`,
      cause: 'out-of-memory',
    })
  })

  test('has no group as an ordinary user without delegation', options, async () => {
    await using group = groupFor()
    expect(workerIn(group.path, { user: USER }).facts).toMatchObject({ tree: 'marker', memory: 'watched', pids: 'not' })
  })
})

const USER = 65_528

interface Told {
  readonly facts: Readonly<Record<string, unknown>>
  /** Its control group after it had started. */
  readonly group: string
  /** The end of a command that exceeds its memory limit. */
  readonly cause: string
}

/**
 * Runs a worker's launcher as a process of its own, moved into the group by a shell that execs it; alone or with
 * another process.
 */
function workerIn(path: string, { user = 0, withOther = false } = {}): Told {
  // By its path: a shell may have a builtin of that name.
  const { command: setpriv } = requireTool('setpriv')
  const as = user === 0 ? '' : `${setpriv} --reuid=${user} --regid=${user} --clear-groups`
  const other = withOther ? 'sleep 1000 >/dev/null 2>&1 &' : ''
  const script = `echo $$ > ${path}/cgroup.procs; ${other} exec ${as} "$0" "$1"`
  const options = { encoding: 'utf8', timeout: LONG, env: { PATH: process.env.PATH } } as const
  const ran = spawnSync('sh', ['-c', script, process.execPath, WORKER], options)
  expect(ran.status, `${ran.signal} ${ran.error} ${ran.stderr}`).toBe(0)
  return JSON.parse(ran.stdout.trim()) as Told
}

let made = 0

/** A group for the worker, delegated to the user where one is given; removed at the end with all groups below it. */
function groupFor(uid?: number): AsyncDisposable & { readonly name: string; readonly path: string } {
  const name = `/service-${process.pid}-${++made}`
  const path = TOP + name
  writeFileSync(`${TOP}/cgroup.subtree_control`, '+memory +pids +cpu')
  mkdirSync(path)
  if (uid !== undefined)
    for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control', 'cgroup.threads'])
      chownSync(join(path, file), uid, uid)
  const remove = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) if (entry.isDirectory()) remove(join(at, entry.name))
    rmdirSync(at)
  }
  const emptied = async (): Promise<void> => {
    writeFileSync(`${path}/cgroup.kill`, '1')
    for (let round = 0; round < 100 && /populated 1/.test(readFileSync(`${path}/cgroup.events`, 'utf8')); round++)
      await pause(50)
    remove(path)
  }
  return { name, path, [Symbol.asyncDispose]: emptied }
}

const running = (words: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words)
    } catch {
      return false // exited meanwhile
    }
  })
