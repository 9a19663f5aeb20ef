/**
 * Measures the start of a command: from a small process, from a large one, and through the spawner, whose cost must not
 * depend on the size of the worker. All run `true`, in turns, so that other load on the machine disturbs all equally.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Launcher, LaunchSpec } from '../../src/runtimes/launcher/launcher.ts'
import { localLauncher } from '../../src/runtimes/launcher/local-launcher.ts'
import { spawner } from '../../src/runtimes/spawner/spawner.ts'
import { startChild } from '../child.ts'
import { quantile } from '../middle.ts'
import { published } from './published.ts'
import { rowsOf } from './rows.ts'

const FAT_BYTES = 1 << 30
/** The number of starts in one turn of a way. */
const BLOCK = 10

/** Starts one command and resolves with its time in ms. */
type Way = () => Promise<number>

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { smoke: { type: 'boolean', default: false }, rounds: { type: 'string' } },
  })
  const rounds = Number(values.rounds ?? (values.smoke ? 10 : 300))
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-'))
  const file = published(folder, ['src/runtimes', 'src/base', 'bench'])
  const launchers: Launcher[] = []
  const byLauncher = (useGroups: boolean, isHere: boolean): { launcher: Launcher; way: Way } => {
    const name = `bench-${process.pid}-${launchers.length}`
    const send = (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal)
    const options = { name, folder: join(folder, name), useGroups, send }
    const entry = file('src/runtimes/spawner/spawner-process.fixture.js')
    const launcher = isHere
      ? localLauncher({ ...options, clock })
      : spawner({ ...options, node: process.execPath, entry, clock })
    launchers.push(launcher)
    return { launcher, way: launched(launcher) }
  }
  const grouped = byLauncher(true, false)
  await using floor = startChild(file('bench/runtimes/servers/plain-spawn.js'))
  const ways: Record<string, Way> = {
    'plain, from the smallest process': () => floor.ask<number>({}),
    'plain, from this process': plain,
    'launcher in this process': byLauncher(false, true).way,
    'spawner, no control groups': byLauncher(false, false).way,
    'spawner, control groups': grouped.way,
  }
  const small = await measure(ways, rounds)
  const { launcher, way } = grouped
  const idle = await measure(
    {
      'spawner, after 400 ms without work': async () => {
        await pause(400)
        return way()
      },
      'the same, announced 20 ms before': async () => {
        await pause(380)
        launcher.expect()
        await pause(20)
        return way()
      },
    },
    Math.min(rounds, 20),
  )
  const ballast = values.smoke ? undefined : Buffer.alloc(FAT_BYTES, 1)
  // One after the other: a fork of a large process slows that process down for some time.
  const few = Math.min(rounds, 50)
  const fat = [...(await measure({ spawner: way }, few)), ...(await measure({ plain }, few))]
  await Promise.all(launchers.map((launcher) => launcher.close()))
  rmSync(folder, { recursive: true, force: true })
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`
  const { text, met } = rowsOf({ machine, rounds, small, idle, fat, ballastBytes: ballast?.length ?? 0 })
  console.log(text)
  return values.smoke || met ? 0 : 1
}

const clock = {
  monotonic: () => performance.now(),
  after(ms: number, callback: () => void) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const plain: Way = () => {
  const start = performance.now()
  const child = spawn('/bin/true', [], { stdio: ['ignore', 'pipe', 'pipe'], env: {}, detached: true })
  child.stdout.resume()
  child.stderr.resume()
  return new Promise((resolve) => child.once('close', () => resolve(performance.now() - start)))
}

let orders = 0
const launched =
  (launcher: Launcher): Way =>
  () => {
    const order: LaunchSpec = {
      name: `o${++orders}`,
      argv: ['/bin/true'],
      env: [],
      cwd: '/',
      user: undefined,
      hasInput: false,
      outputBytes: 1 << 20,
      limits: { memoryBytes: undefined, pids: undefined, cpuMs: undefined },
    }
    const start = performance.now()
    return new Promise((resolve) =>
      launcher.start(order, {
        started() {},
        output() {},
        dropped() {},
        ended: () => resolve(performance.now() - start),
      }),
    )
  }

export interface Timing {
  readonly name: string
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

async function measure(ways: Readonly<Record<string, Way>>, rounds: number): Promise<Timing[]> {
  const times = Object.keys(ways).map((): number[] => [])
  for (let done = 0; done < rounds; done += BLOCK) {
    for (const [which, way] of Object.values(ways).entries()) {
      await way() // the first run after a turn of others has cold caches
      for (let i = 0; i < BLOCK; i++) times[which]?.push(await way())
    }
  }
  return Object.keys(ways).map((name, i) => {
    const all = times[i] as number[]
    return { name, p10: quantile(all, 0.1), p50: quantile(all, 0.5), p90: quantile(all, 0.9) }
  })
}
