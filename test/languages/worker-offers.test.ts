import { expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { type RunningWorker, startWorker } from '../../src/app/worker/worker.ts'
import { silentLog } from '../../src/base/log.ts'
import { findLanguage } from '../../src/languages/find-language.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { snippetTask } from '../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { Language } from '../../src/model/language.ts'
import { snippetOf } from '../../src/model/snippet.ts'
import { commandTaskRequest } from '../../src/services/execution/task-request.ts'
import { describeWith } from '../../src/testing/require.ts'
import { ended, stageOf, textOf } from '../commands/commands.ts'
import { startGrid, type TestGrid, until } from '../workers/grid.ts'
import { ownFolder } from '../workers/worker-here.ts'

const bash = findLanguage(loadLanguages(), 'bash') as Language
const broken: Language = { ...bash, name: 'broken', selfTest: { ...bash.selfTest, stdout: 'something else\n' } }
const absent: Language = { ...bash, name: 'absent', probe: { ...bash.probe, programs: ['no-such-program'] } }

interface Speaker {
  readonly grid: TestGrid
  readonly folder: string
  readonly backend?: string
}

function speakingWorker({ grid, folder, backend = 'sandbox' }: Speaker): Promise<RunningWorker> {
  const env = {
    WINDLASS_SERVER_DATA_DIR: folder,
    WINDLASS_WORKER_SERVER_URL: `http://${grid.address}`,
    WINDLASS_WORKER_WORKER_ID: 'speaker',
    WINDLASS_WORKER_BACKEND: backend,
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '10',
  }
  const { config } = loadConfig({ env, home: folder })
  const languages = [bash, broken, absent]
  return startWorker(config, { clock: systemClock, log: silentLog, env: { PATH: '/usr/bin:/bin' }, languages })
}

const offersOf = ({ engine }: TestGrid): string[] =>
  engine.workers
    .list()
    .flatMap(({ properties }) => properties)
    .filter(({ name }) => name === 'language')
    .map(({ value }) => value)

const submit = async ({ engine }: TestGrid, script: string) => {
  const request = snippetOf({ language: 'bash', files: [{ name: '', contents: Buffer.from(script) }] })
  const task = snippetTask(request, bash, undefined)
  return (
    await engine.submit(LOCAL_CALLER, commandTaskRequest(task, { instance: '', origin: 'snippet', form: 'command' }))
  ).operation
}

describeWith('bwrap', 'a worker with languages', () => {
  test('offers the languages whose self-test passed while it runs, and at its next start immediately', async () => {
    const grid = await startGrid()
    const folder = ownFolder()
    const first = await speakingWorker({ grid, folder })
    const operation = await submit(grid, 'echo "in $PWD"')
    await until(() => offersOf(grid).length > 0)
    expect(offersOf(grid)).toEqual(['bash', expect.stringMatching(/^bash@\d+\.\d+/)])
    expect(textOf(stageOf(ended(await grid.end(operation)).result).stdout)).toBe('in /room\n')
    await first.stop()
    await until(() => offersOf(grid).length === 0)
    const second = await speakingWorker({ grid, folder })
    await until(() => grid.engine.workers.list().length > 0)
    expect(offersOf(grid)[0]).toBe('bash')
    await second.stop()
  })

  test('keeps its running task when it registers more languages', async () => {
    const grid = await startGrid()
    const worker = await speakingWorker({ grid, folder: ownFolder() })
    await until(() => grid.engine.workers.list().length > 0)
    const slow = await grid.submit({ script: 'sleep 1.5; echo done' })
    await grid.running(slow.operation)
    await until(() => offersOf(grid).length > 0)
    const status = await grid.end(slow.operation)
    expect(status).toMatchObject({ state: 'completed' })
    await worker.stop()
  })

  test('without isolation offers no language', async () => {
    const grid = await startGrid()
    const worker = await speakingWorker({ grid, folder: ownFolder(), backend: 'host' })
    await until(() => grid.engine.workers.list().length > 0)
    await worker.stop()
    expect(offersOf(grid)).toEqual([])
  })
})
