/**
 * Measures the cost of a room: each runtime runs `/bin/true`, in turns with a plain spawn from a small process, all on one
 * processor. A worker with 2 GiB of memory must start rooms as fast as a small one, because its spawner forks.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Child, startChild } from '../child.ts'
import { quantile } from '../middle.ts'
import { published } from '../runtimes/published.ts'
import { countingGroup } from './counting-group.ts'
import { type RoomRow, reportOf } from './report.ts'
import type { Cost, Kind, Question } from './servers/room-worker.ts'

const KINDS: readonly Kind[] = ['plain', 'bare', 'unshare', 'sandbox']
const FAT_BYTES = 2 * 2 ** 30
/** Runs in one turn of a kind: one after the other, and then AT_ONCE at a time. */
const BLOCK = 20
const AT_ONCE = 4

interface Contestant {
  readonly kind: Kind
  readonly child: Child
  ask(question: Question): Promise<Cost>
}

export async function run(args: readonly string[]): Promise<number> {
  const options = { smoke: { type: 'boolean', default: false }, rounds: { type: 'string' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const rounds = Number(values.rounds ?? (values.smoke ? 1 : 15))
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-'))
  const file = published(folder, ['src/runtimes', 'src/base', 'src/model', 'bench'])
  const groups: { remove(): void }[] = []
  const open = async (kind: Kind, label: string): Promise<Contestant> => {
    const child = startChild(file('bench/rooms/servers/room-worker.js'))
    const group = countingGroup(`windlass-bench-${process.pid}-${label}`)
    if (group !== undefined) groups.push(group)
    const entry = file('src/runtimes/spawner/spawner-process.fixture.js').href
    await child.ask({ open: kind, folder: join(folder, label), entry, group: group?.path } satisfies Question)
    return { kind, child, ask: (question) => child.ask<Cost>(question) }
  }
  try {
    onOneProcessor()
    const contestants: Contestant[] = []
    for (const kind of KINDS) contestants.push(await open(kind, kind))
    const rows = await turns(contestants, rounds)
    const pair = [await open('sandbox', 'slim'), await open('sandbox', 'fat')] as const
    const fatBytes = values.smoke ? 2 ** 26 : FAT_BYTES
    await pair[1].child.ask({ grow: fatBytes } satisfies Question)
    const [slim, fat] = (await turns(pair, Math.ceil(rounds / 2))) as [RoomRow, RoomRow]
    for (const { child } of [...contestants, ...pair]) await child[Symbol.asyncDispose]()
    const machine = `${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`
    const { text, met } = reportOf({ machine, rows, slim, fat, fatBytes })
    console.log(text)
    return values.smoke || met ? 0 : 1
  } finally {
    await new Promise((resolve) => setTimeout(resolve, 500)) // spawners exit after their workers
    for (const group of groups) group.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Child processes inherit it: the bench measures how many rooms one processor makes. */
function onOneProcessor(): void {
  const { status } = spawnSync('taskset', ['-a', '-p', '-c', '0', `${process.pid}`], { stdio: 'ignore' })
  if (status !== 0) console.log('taskset is not here: these figures are for all processors together')
}

/** Reports the best tenth: other processes of the machine slow down the rest. */
async function turns(contestants: readonly Contestant[], rounds: number): Promise<RoomRow[]> {
  const costs = contestants.map(() => ({ wall: [] as number[], cpu: [] as number[], rate: [] as number[] }))
  for (let round = 0; round < rounds; round++)
    for (const [i, { ask }] of contestants.entries()) {
      const one = await ask({ run: BLOCK, atOnce: 1 })
      const many = await ask({ run: BLOCK, atOnce: AT_ONCE })
      costs[i]?.wall.push(one.wallMs / BLOCK)
      costs[i]?.rate.push((1000 * BLOCK) / many.wallMs)
      if (many.cpuMs !== undefined) costs[i]?.cpu.push(many.cpuMs / BLOCK)
    }
  return contestants.map(({ kind }, i) => {
    const { wall = [], cpu = [], rate = [] } = costs[i] ?? {}
    return {
      name: kind,
      wallMs: quantile(wall, 0.1),
      cpuMs: cpu.length === 0 ? undefined : quantile(cpu, 0.1),
      perSecond: quantile(rate, 0.9),
    }
  })
}
