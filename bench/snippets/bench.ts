/**
 * Measures the cost of running a few lines of code through the REST API: with and without a warm interpreter, with and
 * without a cached compilation; compared with the same program started by a shell, and in the same sandbox without a
 * grid.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { NewSnippet } from '../../src/client/snippets/snippet-answers.ts'
import { startChild } from '../child.ts'
import { quantile } from '../middle.ts'
import { type Contestant, inRoom, onGrid, shellLoop } from './contestants.ts'
import { crowded, delaysOf, flooded } from './crowd.ts'
import type { Addresses, ServerQuestion } from './servers/server.ts'
import type { WorkerQuestion } from './servers/worker.ts'

const PYTHON = 'print("hello")'
const JAVASCRIPT = 'console.log("hello")'
const C = '#include <stdio.h>\nint main(void) { puts("hello"); }\n'
const BLOCK = 5
const SLOTS = 2

interface Row {
  readonly name: string
  readonly run: Contestant
  readonly tookMs: number[]
}

interface Bar {
  readonly what: string
  readonly most: number
  readonly measured: number
  readonly unit: string
}

export async function run(args: readonly string[]): Promise<number> {
  const options = {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
  } as const
  const { values } = parseArgs({ args: [...args], options })
  const rounds = Number(values.rounds ?? (values.smoke ? 1 : 8))
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-'))
  chmodSync(folder, 0o711) // the user of a sandbox must be able to enter the folder
  await using room = startChild(new URL('./servers/room.ts', import.meta.url))
  await using warm = openGrid(join(folder, 'warm'), 4)
  await using cold = openGrid(join(folder, 'cold'), 0)
  try {
    const urls = { warm: await warm.begin(), cold: await cold.begin() }
    mkdirSync(join(folder, 'room'), { mode: 0o711 })
    writeFileSync(join(folder, 'main.c'), C)
    const rows = rowsOf({ urls, folder, room })
    await warmUp(urls, values.smoke)
    const isWanted = (part: string): boolean => values.only === undefined || values.only === part
    for (let round = -1; round < rounds && isWanted('alone'); round++)
      for (const { run: go, tookMs } of rows) {
        const took = await go(BLOCK)
        if (round >= 0) tookMs.push(...took)
      }
    const crowd = { urls, server: warm.server, smoke: values.smoke }
    if (isWanted('rates')) await printRates(crowd)
    const bars = [
      ...(isWanted('alone') ? latencyBars(rows) : []),
      ...(isWanted('mix') ? [await mixBar(crowd)] : []),
      ...(isWanted('flood') ? [await floodBar(crowd)] : []),
    ]
    return barsMet(bars) || values.smoke ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A server and its one worker, with `most` warm interpreters. */
function openGrid(folder: string, most: number) {
  const server = startChild(new URL('./servers/server.ts', import.meta.url))
  const worker = startChild(new URL('./servers/worker.ts', import.meta.url))
  return {
    server,
    async begin(): Promise<string> {
      const journal = join(folder, 'journal')
      mkdirSync(journal, { recursive: true, mode: 0o711 })
      chmodSync(folder, 0o711)
      const { grpc, http } = await server.ask<Addresses>({ ask: 'open', folder: journal } satisfies ServerQuestion)
      await worker.ask({
        server: grpc,
        folder,
        warm: most,
        slots: SLOTS,
        languages: LANGUAGES,
      } satisfies WorkerQuestion)
      await allAreOffered(http)
      return http
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

const LANGUAGES = ['python', 'javascript', 'c', 'bash']

/** Waits until the worker offers all languages: it offers a language after it has tried it. */
async function allAreOffered(url: string): Promise<void> {
  for (const language of LANGUAGES)
    for (let tries = 0; ; tries++) {
      const body = JSON.stringify({ language, code: language === 'c' ? C : '' })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(new URL('/api/v1/tasks?wait=60s', url), { method: 'POST', headers, body })
      if (response.ok && ((await response.json()) as { data: { status: string } }).data.status === 'completed') break
      if (tries > 50) throw new Error(`${language} is not offered`)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
}

/**
 * Runs some hundred tasks first. A new process compiles its code during the first runs; later runs are about 1 ms
 * faster. The bench measures a grid that has been running for a while.
 */
async function warmUp({ warm, cold }: Urls, isSmoke: boolean): Promise<void> {
  const codes = Object.entries({ python: PYTHON, javascript: JAVASCRIPT })
  const taskFor = (number: number): NewSnippet => {
    const [language = '', code = ''] = codes[number % codes.length] ?? []
    return { language, code }
  }
  const count = isSmoke ? 4 : WARM_UP
  await crowded({ url: warm, count, open: 1, taskFor })
  await crowded({ url: cold, count: count / 4, open: 1, taskFor })
}

const WARM_UP = 800

type Urls = Readonly<Record<'warm' | 'cold', string>>

interface Parts {
  readonly urls: Urls
  readonly folder: string
  readonly room: ReturnType<typeof startChild>
}

function rowsOf({ urls, folder, room }: Parts): Row[] {
  const rooms = join(folder, 'room')
  const grid = (language: string, code: string, way: keyof Urls) => onGrid(urls[way], () => ({ language, code }))
  const row = (name: string, go: Contestant): Row => ({ name, run: go, tookMs: [] })
  let different = 0
  const compiled = (): NewSnippet => ({ language: 'c', code: `${C}// ${process.pid} ${++different}\n` })
  const source = join(folder, 'main.c')
  const program = join(folder, 'program')
  return [
    row('python: shell loop', shellLoop(`python3 -c '${PYTHON}'`)),
    row('python: sandbox alone', inRoom(room, { folder: rooms, language: 'python', code: ['-c', PYTHON] })),
    row('python: grid, cold', grid('python', PYTHON, 'cold')),
    row('python: grid, warm', grid('python', PYTHON, 'warm')),
    row('javascript: shell loop', shellLoop(`node -e '${JAVASCRIPT}'`)),
    row('javascript: sandbox alone', inRoom(room, { folder: rooms, language: 'javascript', code: ['-e', JAVASCRIPT] })),
    row('javascript: grid, cold', grid('javascript', JAVASCRIPT, 'cold')),
    row('javascript: grid, warm', grid('javascript', JAVASCRIPT, 'warm')),
    row('c: shell loop, gcc and run', shellLoop(`gcc -std=gnu17 -O2 -o ${program} ${source} -lm && ${program}`)),
    row('c: grid, compiled', onGrid(urls.cold, compiled)),
    row('c: grid, cached', grid('c', C, 'cold')),
  ]
}

function latencyBars(rows: readonly Row[]): Bar[] {
  console.log(`one run at a time, ms; ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}`)
  console.log(`  ${'run'.padEnd(30)}${['p50', 'p99', 'runs'].map((each) => each.padStart(9)).join('')}`)
  for (const { name, tookMs } of rows) {
    const cells = [...[0.5, 0.99].map((part) => quantile(tookMs, part).toFixed(1)), `${tookMs.length}`]
    console.log(`  ${name.padEnd(30)}${cells.map((cell) => cell.padStart(9)).join('')}`)
  }
  const p50 = (name: string): number => quantile(rows.find((row) => row.name === name)?.tookMs ?? [], 0.5)
  const overhead = (language: string): number => p50(`${language}: grid, cold`) - p50(`${language}: sandbox alone`)
  return [
    {
      what: 'warm Python / a bare start',
      most: 0.6,
      measured: p50('python: grid, warm') / p50('python: shell loop'),
      unit: '×',
    },
    { what: 'cold Python over the same sandbox', most: 15, measured: overhead('python'), unit: ' ms' },
    { what: 'cold JavaScript over the same sandbox', most: 15, measured: overhead('javascript'), unit: ' ms' },
  ]
}

interface CrowdParts {
  readonly urls: Urls
  readonly server: ReturnType<typeof startChild>
  readonly smoke: boolean
}

async function printRates({ urls, smoke }: CrowdParts): Promise<void> {
  console.log(`\nruns/s, eight at a time on ${SLOTS} slots; load ${loadavg()[0]?.toFixed(1)}`)
  const programs = { python: PYTHON, javascript: JAVASCRIPT, c: C }
  for (const way of ['cold', 'warm'] as const)
    for (const [language, code] of Object.entries(programs)) {
      const taskFor = (): NewSnippet => ({ language, code })
      const rate = await crowded({ url: urls[way], count: smoke ? 10 : 100, open: 8, taskFor })
      const name = `${language}, ${way}${language === 'c' ? ' (cached)' : ''}`
      console.log(`  ${name.padEnd(30)}${rate.toFixed(1).padStart(9)}`)
    }
}

/** Two Python tasks and one C task for five shell tasks. */
const MIX: readonly NewSnippet[] = [
  ...[
    { language: 'python', code: PYTHON },
    { language: 'c', code: C },
    { language: 'python', code: PYTHON },
  ],
  ...Array.from({ length: 5 }, () => ({ language: 'bash', code: 'echo hello' })),
]

async function mixBar({ urls: { warm: url }, server, smoke }: CrowdParts): Promise<Bar> {
  const [count, open] = smoke ? [64, 32] : [2000, 1000]
  await delaysOf(server)
  const rate = await crowded({ url, count, open, taskFor: (n) => MIX[n % MIX.length] as NewSnippet })
  const { scheduling } = await delaysOf(server)
  console.log(
    `\n${count} mixed snippets, ${open} at a time: ${rate.toFixed(1)} runs/s; load ${loadavg()[0]?.toFixed(1)}`,
  )
  console.log(
    `  scheduling delay: p50 ${quantile(scheduling, 0.5).toFixed(2)} ms, p90 ${quantile(scheduling, 0.9).toFixed(2)} ms`,
  )
  const measured = quantile(scheduling, 0.99)
  return { what: `scheduling delay, p99 of ${scheduling.length}`, most: 20, measured, unit: ' ms' }
}

async function floodBar({ urls: { warm: url }, server, smoke }: CrowdParts): Promise<Bar> {
  const task = { language: 'bash', code: 'sleep 0.03' }
  const waited = await flooded({ url, server, task, waiting: smoke ? 16 : 200, count: smoke ? 5 : 100 })
  console.log(
    `\nanother tenant amid a flood: p50 ${quantile(waited, 0.5).toFixed(2)} ms; load ${loadavg()[0]?.toFixed(1)}`,
  )
  const what = `another tenant's task after the first free slot, p99 of ${waited.length}`
  return { what, most: 5, measured: quantile(waited, 0.99), unit: ' ms' }
}

function barsMet(bars: readonly Bar[]): boolean {
  console.log('')
  for (const { what, most, measured, unit } of bars)
    console.log(
      `${what}: ${measured.toFixed(2)}${unit}, at most ${most}${unit}: ${measured <= most ? 'met' : 'MISSED'}`,
    )
  return bars.every(({ most, measured }) => measured <= most)
}
