/**
 * Compares Windlass with other servers, in one run on one machine. Each row is a separate command. The peers come from
 * PATH; a missing peer is reported and left out. Only ratios are meaningful on a shared machine, so all contestants of
 * a row run at the same time, are loaded in turn (ABBA), and are measured by the CPU time of all their processes.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findOnPath } from '../cache/peers/on-path.ts'
import { cpuCount } from '../cpu-group.ts'
import { measureCacheRow, type RowOptions } from './cache-row.ts'
import { measureGridRow } from './grid-row.ts'
import { reportOf } from './report.ts'
import { listOfRows, PEER_PROGRAMS, type PeerRow, rowsNamed } from './rows.ts'
import type { RowResult } from './sample.ts'
import { measureSnippetRow } from './snippets-row.ts'
import { measureWorkflowRow } from './workflow-row.ts'

const SMOKE_SCALE = 0.05

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { smoke: { type: 'boolean', default: false }, rounds: { type: 'string', default: '3' } },
  })
  if (positionals.length === 0) {
    console.log(listOfRows())
    return 0
  }
  const rows = rowsNamed(positionals)
  const rounds = values.smoke ? 1 : Number(values.rounds)
  if (!(Number.isInteger(rounds) && rounds >= 1)) throw new Error('--rounds is a whole number from 1 on')
  console.log(introduction())
  for (const row of rows) {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-peers-'))
    const removed = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    process.once('exit', removed)
    const scale = values.smoke ? SMOKE_SCALE : 1
    const result = await measured(row, { folder, rounds, scale, note: (words) => console.error(words) })
    console.log(`\n${reportOf(row, result)}`)
    removed()
    process.off('exit', removed)
  }
  return 0
}

function measured(row: PeerRow, options: RowOptions): Promise<RowResult> {
  switch (row.kind) {
    case 'cache':
      return measureCacheRow(row, options)
    case 'grid':
      return measureGridRow(row, options)
    case 'snippets':
      return measureSnippetRow(row, options)
    case 'workflow':
      return measureWorkflowRow(row, options)
  }
}

function introduction(): string {
  const missing = Object.entries(PEER_PROGRAMS).flatMap(([name, home]) =>
    'absent' in findOnPath({ name, home }) ? [`${name} (${home})`] : [],
  )
  const count = cpuCount()
  return [
    `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)} before, Node ${process.version}.`,
    count === 'process tree'
      ? 'CPU is the sum over the process tree: no control group could be made, and children that nobody waited for are lost.'
      : `CPU is that of a control group for each server (${count}).`,
    ...(missing.length > 0 ? [`Not on PATH: ${missing.join(', ')}.`] : []),
  ].join('\n')
}
