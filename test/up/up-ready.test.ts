import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { startUp, type UpProcess } from '../workers/up-process.ts'
import { ownFolder } from '../workers/worker-here.ts'

/** A language whose self-test takes as long as that of a large compiler. */
const SLOW = `
name = "slow"
title = "Slow"
aliases = ["slo"]
file_name = "main.slow"

[run]
argv = ["bash", "{file}"]

[probe]
programs = ["bash"]
argv = ["bash", "--version"]
pattern = 'version (\\d+\\.\\d+\\.\\d+)'

[self_test]
code = "sleep 6; echo done"
stdin = ""
stdout = "done\\n"
`

function dataWithSlow(): string {
  const data = join(ownFolder(), 'data')
  mkdirSync(join(data, 'languages'), { recursive: true })
  writeFileSync(join(data, 'languages', 'slow.toml'), SLOW)
  return data
}

const ENV = { WINDLASS_WORKER_LANGUAGES: 'slow,bash', WINDLASS_WORKER_WARM_INTERPRETERS: '0' }
const CODE = 'echo hello'

describeWith(['bwrap'], 'windlass up', () => {
  test('becomes ready when its languages are tested, and requests for them wait until then', {
    timeout: 120_000,
  }, async () => {
    const data = dataWithSlow()
    const up = await startUp({ data, env: ENV })
    expect(await readyz(up)).toMatchObject({ status: 503, body: { ready: false } })

    // Each API accepts requests before the worker has its first language, and responds in its own format.
    const answers = Promise.all([
      post(up, '/api/v1/tasks?wait=60s', { language: 'slow', code: CODE }),
      post(up, '/api/v1/tasks?wait=60s', { language: 'slow', version: '*', code: CODE }),
      post(up, '/api/v2/execute', { language: 'slo', version: '*', files: [{ content: CODE }] }),
      post(up, '/submissions?wait=true', { language_id: await judge0Id(), source_code: CODE }),
    ])
    await until(async () => (await readyz(up)).body.reasons?.join().includes('testing its languages: slow') === true)
    expect(up.isReady()).toBe(false)

    const [rest, versioned, piston, judge0] = await answers
    expect(rest).toMatchObject({ status: 200, body: { code: 0, data: { status: 'completed' } } })
    expect(versioned).toMatchObject({ status: 200, body: { code: 0, data: { status: 'completed' } } })
    expect(piston).toMatchObject({ status: 200, body: { run: { stdout: 'hello\n', code: 0 } } })
    expect(judge0).toMatchObject({ status: 201, body: { stdout: 'hello\n' } })

    await up.ready
    expect(await readyz(up)).toEqual({ status: 200, body: { ready: true, reasons: [] } })
    expect(await languagesAt(up)).toEqual(['bash', 'slow'])
    up.signal('SIGTERM')
    await up.gone

    // The results are stored: the second start runs no self-test.
    const again = await startUp({ data, env: ENV })
    await again.ready
    expect(await languagesAt(again)).toEqual(['bash', 'slow'])
    expect(again.log().filter(({ msg }) => msg === 'self-tests of languages are running')).toEqual([])
  })

  test('refuses new tasks with 50302 while its worker finishes running ones', { timeout: 120_000 }, async () => {
    const up = await startUp({ data: join(ownFolder(), 'data'), env: { ...ENV, WINDLASS_WORKER_LANGUAGES: 'bash' } })
    await up.ready
    const running = post(up, '/api/v1/tasks?wait=60s', { language: 'bash', code: 'sleep 5; echo over' })
    await until(async () => JSON.stringify((await get(up, '/api/v1/tasks')).body).includes('"executing"'))
    up.signal('SIGINT') // SIGTERM would return its tasks to the queue
    await until(async () => JSON.stringify((await readyz(up)).body).includes('stopping'))
    const simple = { language: 'bash', code: CODE }
    expect(await post(up, '/api/v1/tasks', simple)).toMatchObject({ status: 503, body: { code: 50302 } })
    const piston = { language: 'bash', version: '*', files: [{ content: CODE }] }
    expect(await post(up, '/api/v2/execute', piston)).toMatchObject({ status: 503 })
    expect(await post(up, '/submissions', { language_id: 46, source_code: CODE })).toMatchObject({ status: 503 })
    const workflow = { document: { class: 'CommandLineTool', cwlVersion: 'v1.2', inputs: {}, outputs: {} } }
    expect(await post(up, '/api/v1/submissions', workflow)).toMatchObject({ status: 503 })
    expect((await running).body).toMatchObject({ data: { status: 'completed', result: { output: 'over\n' } } })
    await up.gone
  })
})

interface Answer {
  readonly status: number
  readonly body: { readonly reasons?: readonly string[]; readonly data?: { languages?: { name: string }[] } }
}

const get = async ({ url }: UpProcess, path: string): Promise<Answer> => {
  const answer = await fetch(`${url}${path}`)
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

const readyz = (up: UpProcess): Promise<Answer> => get(up, '/readyz')

async function post({ url }: UpProcess, path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

const languagesAt = async (up: UpProcess): Promise<string[]> =>
  ((await get(up, '/api/v1/languages')).body.data?.languages ?? []).map(({ name }) => name)

/** The id that the Judge0 API gives to an operator's own language. */
async function judge0Id(): Promise<number> {
  const { idOf } = await import('../../src/doors/http/judge0/language-ids.ts')
  return idOf('slow')
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}
