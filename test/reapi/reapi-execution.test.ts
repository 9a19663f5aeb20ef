import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock as clock } from '../../src/app/process/clock.ts'
import { startServer } from '../../src/app/server/server.ts'
import { startWorker } from '../../src/app/worker/worker.ts'
import { silentLog as log } from '../../src/base/log.ts'
import type { Result } from '../../src/check/behaviour.ts'
import { keptAt } from '../../src/check/reapi/broken/execution/breaks-refusals.ts'
import { EXECUTION_BREAKS } from '../../src/check/reapi/broken/execution/execution-breaks.ts'
import { tryExecution } from '../../src/check/reapi/broken/execution/try-execution.ts'
import { STAGE } from '../../src/check/reapi/probe/operation-message.ts'
import { EXECUTION_BEHAVIOURS, type ExecutionId } from '../../src/check/reapi/table/behaviours.ts'
import { connect } from '../../src/client/connection/connect.ts'
import { parseTarget } from '../../src/client/connection/target.ts'
import type { Channel } from '../../src/grpc/client/channel.ts'

/** One grid for all tests: a whole server with a whole worker, in this process. */
interface HonestGrid {
  readonly channel: Channel
  stop(): Promise<void>
}

const folder = mkdtempSync(join(tmpdir(), 'windlass-honest-'))

async function startHonestGrid(withWorker: boolean): Promise<HonestGrid> {
  const home = mkdtempSync(join(folder, 'grid-'))
  const settings = {
    WINDLASS_SERVER_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_DATA_DIR: join(home, 'server'),
    WINDLASS_SERVER_DRAIN_SECONDS: '1',
    WINDLASS_EXECUTION_REFUSE_UNKNOWN_PROPERTIES: 'true', // otherwise a task waits for workers that may register
  }
  const server = await startServer(loadConfig({ env: settings, home }).config, { log, clock })
  const target = parseTarget(`grpc://${server.grpc}`)
  if (target === undefined) throw new Error(`no target: ${server.grpc}`)
  const env = {
    WINDLASS_SERVER_DATA_DIR: join(home, 'worker'),
    WINDLASS_WORKER_SERVER_URL: `http://${server.grpc}`,
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_BACKEND: 'host', // isolation would hide processes that a timeout leaves behind
    WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '8',
    WINDLASS_WORKER_PLATFORM: 'pool=honest',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '1',
  }
  const { config } = loadConfig({ env, home })
  const worker = withWorker ? await startWorker(config, { clock, log, env: { PATH: '/usr/bin:/bin' } }) : undefined
  const channel = connect(target, { clock })
  return {
    channel,
    async stop() {
      channel.close()
      await worker?.stop()
      await server.stop()
    },
  }
}

let grid: HonestGrid
beforeAll(async () => {
  grid = await startHonestGrid(true)
})
afterAll(async () => {
  await grid.stop()
  rmSync(folder, { recursive: true, force: true })
})

const idsOf = (results: readonly Result[], kind: Result['outcome']['kind']): string[] =>
  results.filter(({ outcome }) => outcome.kind === kind).map(({ behaviour }) => behaviour.id)

/** Behaviours that our own server does not offer. */
const NEVER: readonly ExecutionId[] = ['execute.server-logs']

test('every execution behaviour has exactly one way to break it', () => {
  expect(Object.keys(EXECUTION_BREAKS).sort()).toEqual(EXECUTION_BEHAVIOURS.map(({ id }) => id).sort())
})

test('a grid passes every execution behaviour through a proxy', { timeout: 120_000 }, async () => {
  const { results } = await tryExecution({
    behaviours: EXECUTION_BEHAVIOURS,
    clock,
    behind: grid.channel,
    seed: 'right',
  })
  expect(results.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([])
  expect(idsOf(results, 'not offered')).toEqual(NEVER)
})

describe('a grid that breaks one behaviour', { timeout: 60_000 }, () => {
  /** The expected and seen values that revealed each mistake, printed for review. */
  const seen: string[] = []
  afterAll(() => console.log(`How each mistake shows:\n${seen.sort().join('\n')}`))

  test.concurrent.each(EXECUTION_BEHAVIOURS)('fails the check $id', async (behaviour) => {
    const mistake = EXECUTION_BREAKS[behaviour.id]
    const trial = { behaviours: [behaviour], clock, behind: grid.channel, seed: behaviour.id, mistake }
    const outcome = (await tryExecution(trial)).results[0]?.outcome
    if (outcome?.kind !== 'failed') throw new Error(`it is not caught: ${JSON.stringify(outcome)}`)
    seen.push(`  ${behaviour.id}: expected ${outcome.expected}, saw ${outcome.seen.slice(0, 100)}`)
    expect(outcome.seen, 'no mistake is caught by waiting for a deadline').not.toMatch(/^no answer within/)
    expect(outcome.expected, 'nor by a check that broke down').not.toMatch(/^the check to reach its end$/)
  })
})

test.each([
  ['QUEUED', STAGE.queued, { kind: 'passed' }],
  ['EXECUTING', STAGE.executing, { kind: 'failed', seen: 'EXECUTING' }],
])('a task with an unknown property that stays at stage %s is judged by that stage', async (_, stage, outcome) => {
  const behaviours = EXECUTION_BEHAVIOURS.filter(({ id }) => id === 'refusal.unknown-property')
  const trial = { behaviours, clock, behind: grid.channel, seed: 'kept', mistake: keptAt(stage) }
  expect((await tryExecution(trial)).results[0]?.outcome).toMatchObject(outcome)
})

test("a platform without workers is reported as one failure, with the server's message", async () => {
  const platform = [{ name: 'check-nobody', value: 'x' }]
  const trial = { behaviours: EXECUTION_BEHAVIOURS, clock, behind: grid.channel, seed: 'platform', platform }
  const { results } = await tryExecution(trial)
  expect(idsOf(results, 'failed')).toEqual(['execute.runs'])
  expect(results[0]?.outcome).toMatchObject({ seen: expect.stringContaining('check-nobody') })
})

test('checks with a platform that a worker offers pass', async () => {
  const platform = [{ name: 'pool', value: 'honest' }]
  const behaviours = EXECUTION_BEHAVIOURS.slice(0, 3)
  const { results } = await tryExecution({ behaviours, clock, behind: grid.channel, seed: 'pool', platform })
  expect(idsOf(results, 'passed')).toHaveLength(3)
})

test('a server without a worker is reported as one failure', { timeout: 60_000 }, async () => {
  const idle = await startHonestGrid(false)
  try {
    const trial = { behaviours: EXECUTION_BEHAVIOURS, clock, behind: idle.channel, seed: 'idle', deadlineMs: 2000 }
    const { results } = await tryExecution(trial)
    expect(idsOf(results, 'failed')).toEqual(['execute.runs'])
    expect(results[0]?.outcome).toMatchObject({ seen: 'no worker ran a command within 2 s' })
    expect(idsOf(results, 'not offered')).toHaveLength(EXECUTION_BEHAVIOURS.length - 1)
    expect(results[1]?.outcome).toMatchObject({
      why: 'needs a worker that runs commands: no worker ran a command within 2 s',
    })
  } finally {
    await idle.stop()
  }
})
