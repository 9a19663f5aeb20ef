import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { startLocalWorker } from './local-worker.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-local-worker-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program in place of the worker: it records its arguments, then runs the script. */
function program(name: string, script: string): { command: [string, string]; calls: () => string[] } {
  const calls = join(folder, `${name}.calls`)
  const file = join(folder, `${name}.sh`)
  writeFileSync(calls, '')
  writeFileSync(file, `#!/bin/sh\necho "$*" >> ${calls}\n${script}\n`)
  return { command: ['/bin/sh', file], calls: () => readFileSync(calls, 'utf8').split('\n').filter(Boolean) }
}

const unheard = { reported: () => {}, ended: () => {} }

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('stop() sends a signal and waits for the worker to exit', async () => {
  const { command, calls } = program('patient', 'trap "exit 0" TERM\nwhile :; do sleep 0.05; done')
  const clock = manualClock()
  const worker = startLocalWorker({
    command,
    args: ['--slots', '2'],
    env: process.env,
    clock,
    log: silentLog,
    ...unheard,
  })
  await until(() => calls().length === 1)
  expect(calls()).toEqual(['worker daemon --while-input --slots 2'])
  await worker.stop('SIGINT')
  await worker.stop('SIGINT')
  expect(calls()).toHaveLength(1)
})

test('a worker that exits is started again, after 1, 2 and 4 s', async () => {
  const { command, calls } = program('short', 'exit 3')
  const clock = manualClock()
  const pauses: number[] = []
  const log = { ...silentLog, warn: (fields: object) => void pauses.push((fields as { pauseMs: number }).pauseMs) }
  const worker = startLocalWorker({ command, args: [], env: process.env, clock, log, ...unheard })
  for (let round = 1; round <= 3; round++) {
    await until(() => pauses.length === round)
    expect(calls()).toHaveLength(round)
    clock.advance(pauses.at(-1) ?? 0)
  }
  expect(pauses).toEqual([1000, 2000, 4000])
  await until(() => pauses.length === 4)
  await worker.stop('SIGINT')
})

test('its status lines are reported, and a worker with a lasting failure is not started again', async () => {
  const status = { kind: 'failed', what: 'no user namespaces', isLasting: true }
  const { command, calls } = program('hopeless', `echo noise; echo '${JSON.stringify(status)}'; exit 2`)
  const clock = manualClock()
  const heard: unknown[] = []
  const ends: unknown[] = []
  const worker = startLocalWorker({
    ...{ command, args: [], env: process.env, clock, log: silentLog },
    reported: (each) => heard.push(each),
    ended: (why, nextMs) => ends.push([why, nextMs]),
  })
  await until(() => ends.length === 1)
  expect([heard, ends]).toEqual([[status], [['exit code 2', undefined]]])
  clock.advance(1_000_000)
  await worker.stop('SIGTERM')
  expect(calls()).toHaveLength(1)
})
