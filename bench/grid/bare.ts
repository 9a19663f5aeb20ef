/** Measures the start of `/bin/true` by the spawner of a worker, without server and worker. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/app/process/clock.ts'
import type { Launcher, LaunchSpec } from '../../src/runtimes/launcher/launcher.ts'
import { spawner } from '../../src/runtimes/spawner/spawner.ts'
import { quantile } from '../middle.ts'
import { paced } from './generator/pace.ts'

export interface Bare {
  readonly p50: number
  readonly p99: number
  /** With as many starts in parallel as the worker has slots. */
  readonly perSecond: number
}

export interface BareOptions {
  readonly folder: string
  readonly slots: number
  readonly seconds: number
}

export async function measureBare({ folder, slots, seconds }: BareOptions): Promise<Bare> {
  const own = join(folder, 'bare')
  mkdirSync(own, { recursive: true })
  const launcher = spawner({
    name: `bench-grid-${process.pid}`,
    folder: own,
    useGroups: true,
    node: process.execPath,
    entry: new URL('../../src/app/worker/spawner-process.ts', import.meta.url),
    send: (pid, signal) => void process.kill(pid, signal),
    clock: systemClock,
  })
  try {
    const mostMs = seconds * 1000
    await paced({ count: 50, mostMs, open: 1 }, () => start(launcher, own)) // warms up the JIT
    const times: number[] = []
    await paced({ count: 2000, mostMs, open: 1 }, async () => {
      const begun = performance.now()
      await start(launcher, own)
      times.push(performance.now() - begun)
    })
    const { count, ms } = await paced({ count: 1e6, mostMs, open: slots }, () => start(launcher, own))
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), perSecond: (count / ms) * 1000 }
  } finally {
    await launcher.close()
  }
}

let orders = 0
const start = (launcher: Launcher, cwd: string): Promise<void> =>
  new Promise((resolve) => {
    const order: LaunchSpec = {
      name: `o${++orders}`,
      argv: ['/bin/true'],
      env: [],
      cwd,
      user: undefined,
      hasInput: false,
      outputBytes: 1 << 20,
      limits: { memoryBytes: undefined, pids: undefined, cpuMs: undefined },
    }
    launcher.start(order, { started() {}, output() {}, dropped() {}, ended: () => resolve() })
  })
