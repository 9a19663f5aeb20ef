/**
 * Measures how long the echo of a key takes: through server, worker, sandbox and terminal, compared with the same
 * program behind two pipes and behind a local terminal, in turn.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startChild } from '../child.ts'
import { quantile } from '../middle.ts'
import type { DoorAddresses } from './servers/door.ts'
import { gridTypist, pipedTypist, type Typist } from './typist.ts'

/** The most that we may add to an echo, which leaves time for the network. */
const MOST_ECHO_MS = 10
const BLOCK = 50
/** The pause between two keys. A person types no faster, and a loop without pauses measures something else. */
const PAUSE_MS = 5

interface Row {
  readonly name: string
  readonly typist: Typist
  readonly keys: string
  readonly tookMs: number[]
}

export async function run(args: readonly string[]): Promise<number> {
  const options = { smoke: { type: 'boolean', default: false }, rounds: { type: 'string' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const rounds = Number(values.rounds ?? (values.smoke ? 1 : 20))
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-'))
  await using door = startChild(new URL('./servers/door.ts', import.meta.url))
  await using worker = startChild(new URL('./servers/worker.ts', import.meta.url))
  const typists: Typist[] = []
  try {
    const { grpc, http } = await door.ask<DoorAddresses>({})
    await worker.ask({ server: grpc, folder })
    const row = (name: string, typist: Typist, keys: string): Row => {
      typists.push(typist)
      return { name, typist, keys, tookMs: [] }
    }
    const rows = [
      row('two pipes', pipedTypist(['cat']), 'x\n'),
      row('a terminal', pipedTypist(['script', '-qfec', 'cat', '/dev/null']), 'x'),
      row('grid, pipes', await gridTypist(http, false), 'x\n'),
      row('grid, terminal', await gridTypist(http, true), 'x'),
    ]
    for (let round = -1; round < rounds; round++)
      for (const each of rows) each.tookMs.push(...(await block(each, round < 0)))
    return report(rows) || values.smoke ? 0 : 1
  } finally {
    for (const typist of typists) typist.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function block({ typist, keys }: Row, isWarmUp: boolean): Promise<number[]> {
  const took: number[] = []
  for (let i = 0; i < BLOCK; i++) {
    const received = typist.heard()
    const from = performance.now()
    typist.type(keys)
    await received
    took.push(performance.now() - from)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return isWarmUp ? [] : took
}

function report(rows: readonly Row[]): boolean {
  console.log(`a key and its echo, ms; ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}`)
  console.log(`  ${'through'.padEnd(16)}${['p50', 'p90', 'p99'].map((each) => each.padStart(9)).join('')}`)
  for (const { name, tookMs } of rows) {
    const cells = [0.5, 0.9, 0.99].map((part) => quantile(tookMs, part).toFixed(2).padStart(9))
    console.log(`  ${name.padEnd(16)}${cells.join('')}`)
  }
  const worst = quantile(rows.at(-1)?.tookMs ?? [], 0.99)
  const isMet = worst < MOST_ECHO_MS
  console.log(
    `through the grid 99 of 100 are back in ${worst.toFixed(2)} ms, less than ${MOST_ECHO_MS}: ${isMet ? 'met' : 'MISSED'}`,
  )
  return isMet
}
