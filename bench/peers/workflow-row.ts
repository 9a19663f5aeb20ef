/** Whole runs of a CWL workflow, each in a separate process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { findOnPath } from '../cache/peers/on-path.ts'
import { usageOf } from '../cache/process-usage.ts'
import { tethered } from '../child.ts'
import { cpuGroup } from '../cpu-group.ts'
import { contestants } from '../workflows/contestants.ts'
import { workloadsIn } from '../workflows/documents.ts'
import type { RowOptions } from './cache-row.ts'
import { abba } from './order.ts'
import { PEER_PROGRAMS, type WorkflowRow } from './rows.ts'
import { OURS, type RowResult, type Sample } from './sample.ts'

export async function measureWorkflowRow(row: WorkflowRow, { folder, rounds, note }: RowOptions): Promise<RowResult> {
  mkdirSync(folder, { recursive: true })
  const workload = workloadsIn(folder).find(({ name }) => name === row.workload)
  if (workload === undefined) throw new Error(`no workload is named ${row.workload}`)
  const named = { embedded: OURS, cwltool: 'cwltool' } as const
  const all = contestants('').filter(({ name }) => name in named)
  const absent = findOnPath({ name: 'cwltool', home: PEER_PROGRAMS.cwltool })
  const samples: Sample[] = []
  for (const { name, argv } of abba(all, rounds)) {
    const sample = await timedRun([...argv(''), ...workload.words], folder)
    samples.push({ ...sample, contestant: named[name as keyof typeof named], open: 1, units: 1 })
  }
  note(`${row.name}: done`)
  return { samples, absences: 'absent' in absent ? [`cwltool: ${absent.absent}`] : [] }
}

async function timedRun(argv: readonly string[], cwd: string): Promise<Omit<Sample, 'contestant' | 'open' | 'units'>> {
  const group = cpuGroup()
  const [program = '', ...args] = group?.inside(argv) ?? argv
  const before = usageOf(process.pid).cpuUs
  const start = performance.now()
  const child = tethered(spawn(program, args, { cwd, stdio: 'ignore' }))
  const [code] = await once(child, 'exit')
  const tookMs = performance.now() - start
  const cpuUs = group?.cpuUs() ?? usageOf(process.pid).cpuUs - before
  group?.remove()
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code}`)
  return { cpuUs, p50Ms: tookMs, p99Ms: tookMs, load: loadavg()[0] ?? Number.NaN }
}
