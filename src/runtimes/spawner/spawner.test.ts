import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { bareBy, launcherBy, launcherOptions } from '../bare/bare.fixture.ts'
import { bareRuntime } from '../bare/bare.ts'
import { isGone } from '../run/contract.ts'
import { emptyRoom, realClock, runOf, shell } from '../run/rooms.fixture.ts'
import { spawner } from './spawner.ts'

const never = new AbortController().signal
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const script = 'echo $PPID $$; sleep 60 & echo $!; (setsid sleep 61 & echo $!); wait'
const numbersIn = (words: string): number[] => words.trim().split(/\s+/).map(Number)

describe.each([true, false])('spawner (control groups: %s)', (useGroups) => {
  test('a killed spawner takes its processes with it; the run is unavailable, and the next run works', async () => {
    await using bare = bareBy('spawner', useGroups)
    using room = emptyRoom()
    let heard = ''
    const stdout = (bytes: Uint8Array): void => {
      heard += text(bytes)
      if (numbersIn(heard).length === 4) process.kill(numbersIn(heard)[0] as number, 'SIGKILL')
    }
    const run = bare.runtime.run(runOf(shell(script), { room, hooks: { stdout } }), never)
    await expect(run).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    for (const pid of numbersIn(heard)) expect(await isGone(pid), `${pid} of ${heard}`).toBe(true)
    const next = await bare.runtime.run(
      runOf(shell('echo again > /dev/stdout'), { room: { ...room, name: `${room.name}-b` } }),
      never,
    )
    expect(text(next.stdout.bytes)).toBe('again\n')
  })

  test('the spawner of a killed worker kills its processes, then exits', async () => {
    const { pids } = await workerAndAll(useGroups, ({ worker }) => worker.kill('SIGKILL'))
    for (const pid of pids) expect(await isGone(pid), `${pid}`).toBe(true)
  })

  test('after both were killed, the next worker of that name kills their processes', async () => {
    const { name, pids } = await workerAndAll(useGroups, ({ worker, spawner: pid }) => {
      worker.kill('SIGSTOP') // the worker must not notice the end of its spawner
      process.kill(pid, 'SIGKILL')
      worker.kill('SIGKILL')
    })
    const left = pids.slice(1)
    expect(left.filter((pid) => existsSync(`/proc/${pid}`))).toEqual(left)
    const options = { ...launcherOptions(useGroups), name }
    const launcher = launcherBy('direct', options)
    for (const pid of left) expect(await isGone(pid), `${pid}`).toBe(true)
    await launcher.close()
    rmSync(options.folder, { recursive: true, force: true })
  })
})

interface Killable {
  readonly worker: ChildProcess
  /** The spawner's pid. */
  readonly spawner: number
}

/** A worker in its own process whose command has started others: `end` gets all their pids and kills some. */
async function workerAndAll(
  useGroups: boolean,
  end: (them: Killable) => void,
): Promise<{ name: string; pids: number[] }> {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'windlass-killed-'))
  const file = fileURLToPath(new URL('./worker-process.fixture.ts', import.meta.url))
  const args = [file, useGroups ? 'groups' : 'markers']
  const worker = spawn(process.execPath, args, { env: { TMPDIR }, stdio: ['ignore', 'pipe', 'inherit'] })
  let heard = ''
  for await (const chunk of worker.stdout) {
    heard += chunk
    if (numbersIn(heard).length === 4) end({ worker, spawner: numbersIn(heard)[0] as number })
  }
  expect(numbersIn(heard)).toHaveLength(4)
  rmSync(TMPDIR, { recursive: true })
  return { name: `test-${worker.pid}-1`, pids: numbersIn(heard) }
}

test('a hundred concurrent launches all run', async () => {
  await using bare = bareBy('spawner', true)
  using room = emptyRoom()
  const ends = Array.from({ length: 100 }, (_, i) =>
    bare.runtime.run(runOf(['echo', `${i}`], { room: { ...room, name: `${room.name}-${i}` } }), never),
  )
  expect((await Promise.all(ends)).map(({ stdout }) => text(stdout.bytes))).toEqual(
    Array.from({ length: 100 }, (_, i) => `${i}\n`),
  )
})

test('a spawner has no leaked descriptors after 70 launches', async () => {
  await using bare = bareBy('spawner', true)
  using room = emptyRoom()
  const open = async (i: number): Promise<number> => {
    async function* stdin(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('x')
    }
    const run = runOf(shell('ls /proc/$PPID/fd | wc -l'), {
      room: { ...room, name: `${room.name}-${i}` },
      hooks: { stdin: stdin() },
      limits: { pids: 50, memoryBytes: 1 << 30 },
    })
    return Number(text((await bare.runtime.run(run, never)).stdout.bytes))
  }
  for (let i = 0; i < 10; i++) await open(i)
  const before = await open(10)
  for (let i = 11; i < 60; i++) await open(i)
  for (let i = 60; i < 70; i++)
    await bare.runtime.run(runOf(['x'.repeat(200_000)], { room: { ...room, name: `r-${i}` } }), never)
  expect(await open(70)).toBeLessThanOrEqual(before + 12) // spare groups hold open descriptors
})

test('a spawner that does not exit on request is killed, with its processes', async () => {
  const options = launcherOptions(false)
  const hasty = { ...realClock, after: (ms: number, done: () => void) => realClock.after(ms / 50, done) }
  const launcher = launcherBy('spawner', { ...options, clock: hasty })
  const runtime = bareRuntime({ launcher, clock: realClock, env: [], user: undefined, outputBytes: 1 << 20 })
  using room = emptyRoom()
  const told = Promise.withResolvers<number[]>()
  let heard = ''
  const stdout = (bytes: Uint8Array): void => {
    heard += text(bytes)
    if (numbersIn(heard).length === 4) told.resolve(numbersIn(heard))
  }
  const run = runtime
    .run(runOf(shell(script), { room, hooks: { stdout } }), never)
    .catch((error: Error) => error.message)
  const pids = await told.promise
  process.kill(pids[0] as number, 'SIGSTOP')
  await launcher.close()
  for (const pid of pids) expect(await isGone(pid), `${pid}`).toBe(true)
  expect(await run).toContain('the spawner has failed')
  rmSync(options.folder, { recursive: true })
})

test('a descriptor that the worker inherited is not passed on to commands', () => {
  const file = fileURLToPath(new URL('./open-files.fixture.ts', import.meta.url))
  const script = 'exec 9< /dev/null; exec "$0" "$1"'
  const seen = spawnSync('/bin/sh', ['-c', script, process.execPath, file], { encoding: 'utf8' })
  expect(
    seen.stdout
      .trim()
      .split(' ')
      .filter((path) => path.endsWith('/9')),
  ).toEqual([])
  expect(seen.stdout).toContain('/fd/2')
})

test('the probe of a runtime whose spawner cannot start gives the reason', async () => {
  const options = launcherOptions(false)
  const launcher = spawner({ ...options, node: '/no/such/node', entry: new URL(import.meta.url) })
  const runtime = bareRuntime({ launcher, clock: realClock, env: [], user: undefined, outputBytes: 1 })
  expect(await runtime.probe()).toEqual({ works: false, reason: expect.stringContaining('/no/such/node') })
  rmSync(options.folder, { recursive: true })
})

test('facts() of a spawner that cannot start throws with the reason', async () => {
  const options = launcherOptions(false)
  const launcher = spawner({ ...options, node: '/no/such/node', entry: new URL(import.meta.url) })
  await expect(launcher.facts()).rejects.toThrow('/no/such/node')
  await launcher.close()
  rmSync(options.folder, { recursive: true })
})
