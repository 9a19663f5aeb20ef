/** A Python program of one line, through the HTTP API of each contestant. */
import { mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { findOnPath } from '../cache/peers/on-path.ts'
import { freePort, spawnServer } from '../cache/peers/spawned.ts'
import { paced } from '../grid/generator/pace.ts'
import { quantile } from '../middle.ts'
import type { RowOptions } from './cache-row.ts'
import { startWindlassGrid } from './grids/windlass.ts'
import { abba } from './order.ts'
import { PEER_PROGRAMS, type SnippetRow } from './rows.ts'
import { OURS, type RowResult, type Sample } from './sample.ts'

interface Runner extends AsyncDisposable {
  readonly name: string
  cpuUs(): number
  /** Runs the program and returns its output. */
  run(): Promise<string>
}

const CODE = 'print("hello")'
const PRINTED = 'hello\n'
const SLOTS = 8
const LONGEST_WINDOW_MS = 100_000

async function post(url: URL, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return await response.json()
}

async function startOurs(folder: string): Promise<Runner> {
  const grid = await startWindlassGrid({ folder, backend: 'sandbox', slots: SLOTS, languages: ['python'] })
  const url = new URL('/api/v1/tasks?wait=60s', grid.http)
  return {
    ...grid,
    async run() {
      const answer = await post(url, { language: 'python', code: CODE })
      return (answer as { data: { result?: { output: string } } }).data.result?.output ?? ''
    },
  }
}

async function findGoJudge(folder: string): Promise<Runner | { readonly absent: string }> {
  const found = findOnPath({ name: 'go-judge', home: PEER_PROGRAMS['go-judge'] })
  if ('absent' in found) return found
  mkdirSync(folder, { recursive: true })
  const [port, monitor] = [await freePort(), await freePort()]
  const addresses = ['-http-addr', `127.0.0.1:${port}`, '-monitor-addr', `127.0.0.1:${monitor}`]
  const args = [...addresses, '-parallelism', `${SLOTS}`, '-dir', join(folder, 'files'), '-silent']
  mkdirSync(join(folder, 'files'))
  const server = spawnServer({
    program: found.program,
    args,
    folder,
    groupArgs: (name) => ['-cgroup-prefix', `${name}/judge`],
  })
  await server.listening(port)
  const url = new URL(`http://127.0.0.1:${port}/run`)
  const collected = (name: string) => ({ name, max: 1 << 20 })
  const command = {
    args: ['/usr/bin/python3', '-c', CODE],
    env: ['PATH=/usr/bin:/bin'],
    files: [{ content: '' }, collected('stdout'), collected('stderr')],
    cpuLimit: 10e9,
    memoryLimit: 256 * 2 ** 20,
    procLimit: 50,
  }
  return {
    name: 'go-judge',
    cpuUs: () => server.usage().cpuUs,
    async run() {
      const [result] = (await post(url, { cmd: [command] })) as [{ files?: { stdout?: string } }]
      return result.files?.stdout ?? ''
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

export async function measureSnippetRow(row: SnippetRow, options: RowOptions): Promise<RowResult> {
  await using everything = new AsyncDisposableStack()
  const runners = [everything.use(await startOurs(join(options.folder, OURS)))]
  const absences: string[] = []
  const judge = await findGoJudge(join(options.folder, 'go-judge'))
  if ('absent' in judge) absences.push(`go-judge: ${judge.absent}`)
  else runners.push(everything.use(judge))
  for (const runner of runners) await windowOf(runner, { ...row, open: 1, scale: options.scale })
  const samples: Sample[] = []
  for (const open of row.open) {
    for (const runner of abba(runners, options.rounds))
      samples.push(await windowOf(runner, { ...row, open, scale: options.scale }))
    options.note(`${row.name}, ${open} at a time: done`)
  }
  return { samples, absences }
}

interface RunWindow {
  readonly count: number
  readonly open: number
  readonly scale: number
}

async function windowOf(runner: Runner, { count, open, scale }: RunWindow): Promise<Sample> {
  const tookMs: number[] = []
  const before = runner.cpuUs()
  const pace = { count: Math.max(1, Math.round(count * scale)), mostMs: LONGEST_WINDOW_MS, open }
  const { count: units } = await paced(pace, async () => {
    const start = performance.now()
    const printed = await runner.run()
    tookMs.push(performance.now() - start)
    if (printed !== PRINTED) throw new Error(`${runner.name}: the program printed ${JSON.stringify(printed)}`)
  })
  const cpuUs = runner.cpuUs() - before
  const [p50Ms, p99Ms] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)]
  return { contestant: runner.name, open, units, cpuUs, p50Ms, p99Ms, load: loadavg()[0] ?? Number.NaN }
}
