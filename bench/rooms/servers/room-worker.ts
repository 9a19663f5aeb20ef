/** A process of a given size that runs `/bin/true` in rooms of one runtime, and reports their time and CPU time. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../src/base/clock.ts'
import { openRuntime } from '../../../src/runtimes/open-runtime.ts'
import { spawner } from '../../../src/runtimes/spawner/spawner.ts'
import { answerWith } from '../../child.ts'
import { cpuMsOf } from '../counting-group.ts'

export type Kind = 'plain' | 'bare' | 'unshare' | 'sandbox'

export type Question =
  | { readonly open: Kind; readonly folder: string; readonly entry: string; readonly group: string | undefined }
  | { readonly grow: number }
  | { readonly run: number; readonly atOnce: number }

export interface Cost {
  readonly wallMs: number
  /** The CPU time of this process and all that it started; undefined where no control group counts it. */
  readonly cpuMs: number | undefined
}

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
const command = {
  argv: ['/bin/true'],
  env: [],
  workingDirectory: '',
  inputs: { root: undefined, files: [], uris: [] },
  outputs: { paths: { kind: 'any', paths: [] }, globs: [], directoryFormat: 'tree', properties: [] },
  platform: [],
  image: undefined,
  limits: {},
  network: false,
  cacheable: false,
} as const

let group: string | undefined
let once: () => Promise<void> = plain
let ballast: Buffer | undefined

answerWith(async (question: Question): Promise<Cost | string | number> => {
  if ('open' in question) {
    group = question.group
    if (group !== undefined) writeFileSync(`${group}/cgroup.procs`, `${process.pid}`)
    return open(question)
  }
  if ('grow' in question) {
    ballast = Buffer.alloc(question.grow, 1)
    return ballast.length
  }
  return measure(question)
})

async function open({ open: kind, folder, entry }: Extract<Question, { open: Kind }>): Promise<string> {
  if (kind === 'plain') return kind
  const send = (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal)
  const name = `bench-${process.pid}`
  for (const each of ['launcher', 'rooms', 'root', 'tmp']) mkdirSync(join(folder, each), { recursive: true })
  for (const each of ['.', 'rooms', 'root', 'tmp']) chmodSync(join(folder, each), 0o777)
  const options = { name, folder: join(folder, 'launcher'), useGroups: true, send, node: process.execPath }
  const launcher = spawner({ ...options, entry: new URL(entry), clock })
  const deps = { launcher, clock, env: [], outputBytes: 1 << 20, folder: join(folder, 'rooms'), arch: process.arch }
  const { runtime, probe, user } = await openRuntime(kind, { ...deps, uid: process.getuid?.() ?? 0 })
  const place = realpathSync(folder)
  const room = { path: join(place, 'root'), tmp: join(place, 'tmp') }
  const never = new AbortController().signal
  let count = 0
  once = async () => {
    const run = { command, room: { ...room, name: `r${++count}` }, limits: {}, hooks: {} }
    const { cause, reason } = await runtime.run(run, never)
    if (cause !== 'ok') throw new Error(`${kind}: ${cause} ${reason}`)
  }
  return `${kind}: ${probe.isolation}, ${user === undefined ? 'own user' : `user ${user.uid}`}`
}

function plain(): Promise<void> {
  const child = spawn('/bin/true', [], { stdio: ['ignore', 'pipe', 'pipe'], env: {}, detached: true })
  child.stdout.resume()
  child.stderr.resume()
  return new Promise((resolve) => child.once('close', () => resolve()))
}

async function measure({ run, atOnce }: Extract<Question, { run: number }>): Promise<Cost> {
  await once() // the first run has cold caches
  const [cpu, start] = [cpuMs(), performance.now()]
  let left = run
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await once()
    }),
  )
  const wallMs = performance.now() - start
  return { wallMs, cpuMs: cpu === undefined ? undefined : (cpuMs() ?? 0) - cpu }
}

const cpuMs = (): number | undefined => (group === undefined ? undefined : cpuMsOf(group))
