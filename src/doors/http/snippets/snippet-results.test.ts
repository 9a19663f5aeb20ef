import { describe, expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { submittedAnswer } from './answers.ts'
import {
  dataOf,
  ended,
  HELLO,
  inline,
  putBlob,
  ran,
  shown,
  snippetsGrid,
  stage,
  submitted,
  turns,
} from './snippets.fixture.ts'

describe('end of a run', () => {
  test.each([
    ['exit', 'failed'],
    ['signal', 'failed'],
    ['out-of-memory', 'failed'],
    ['timeout', 'timeout'],
    ['cpu-time', 'timeout'],
  ] as const)('a run that ended by %s is %s', async (cause, state) => {
    const grid = await snippetsGrid()
    grid.worker('w1', { answer: () => ended(cause, 3) })
    const id = await submitted(grid)
    await turns()
    expect(await shown(grid, id)).toMatchObject({
      status: state,
      result: { exitCode: 3, stages: [{ cause }] },
      failure: { message: expect.stringMatching(/^run /) },
    })
  })

  test('a failed compile stage is the last stage, and its stderr is the error of the result', async () => {
    const grid = await snippetsGrid()
    const failure = stage('', { name: 'compile', cause: 'exit', exitCode: 1, stderr: inline('main.c:1: error\n') })
    grid.worker('w1', { answer: () => ran(failure) })
    const id = await submitted(grid, { language: 'c', code: 'int main( {}' })
    await turns()
    const { status, result } = await shown(grid, id)
    expect(status).toBe('failed')
    expect(result).toMatchObject({ exitCode: 1, error: 'main.c:1: error\n', stages: [{ name: 'compile' }] })
  })

  test('invalid UTF-8 in the output is replaced, and base64 returns all bytes', async () => {
    const grid = await snippetsGrid()
    const bytes = Buffer.from([0x61, 0xff, 0x62])
    grid.worker('w1', { answer: () => ran({ ...stage(''), stdout: { ...inline(''), inline: bytes } }) })
    const id = await submitted(grid)
    await turns()
    expect((await shown(grid, id)).result?.output).toBe('a\ufffdb')
    expect((await shown(grid, id, '?encoding=base64')).result?.output).toBe(bytes.toString('base64'))
  })

  test('cut output, and output above 1 MiB, are marked truncated', async () => {
    const grid = await snippetsGrid()
    const digest = await putBlob(grid, 'x'.repeat(2 * 1024 * 1024))
    const long = { inline: undefined, digest, droppedBytes: 0, droppedAt: 0 }
    grid.worker('w1', {
      answer: () => ran(stage('', { stdout: long, stderr: { ...inline('ab'), droppedBytes: 5, droppedAt: 1 } })),
    })
    const id = await submitted(grid)
    await turns()
    const { result } = await shown(grid, id)
    expect(result?.truncated).toBe(true)
    expect(result?.stages[0]?.dropped).toEqual({ error: { at: 1, bytes: 5 } })
    expect(result?.output.length).toBe(1024 * 1024)
    const whole = await grid.app.request(`/api/v1/tasks/${id}/artifacts/.windlass/run.stdout`)
    expect((await whole.text()).length).toBe(2 * 1024 * 1024)
  })

  test('a task without a worker for noWorkerGraceMs fails with 50301', async () => {
    const clock = manualClock()
    const grid = await snippetsGrid({ clock, scheduler: { noWorkerGraceMs: 1000 } })
    const worker = grid.worker('w1', { slots: 1 })
    await submitted(grid)
    const id = await submitted(grid)
    worker.leave()
    await turns()
    clock.advance(2000)
    await turns()
    expect(await shown(grid, id)).toMatchObject({ status: 'failed', failure: { code: 50301 } })
  })
})

describe('verdicts', () => {
  test.each([
    ['42\n', '42', 'accepted'],
    ['42 \r\n\n', '42\n', 'accepted'],
    ['41\n', '42', 'wrong-answer'],
  ])('output %j with the expected output %j is %s', async (printed, expectedOutput, verdict) => {
    const grid = await snippetsGrid()
    grid.worker('w1', { answer: () => ran(stage(printed)) })
    const id = await submitted(grid, { ...HELLO, expectedOutput })
    await turns()
    expect((await shown(grid, id)).verdict).toBe(verdict)
  })

  test.each([
    ['timeout', 'time-limit'],
    ['cpu-time', 'time-limit'],
    ['out-of-memory', 'memory-limit'],
    ['output-limit', 'output-limit'],
    ['exit', 'runtime-error'],
    ['signal', 'runtime-error'],
  ] as const)('a run that ended by %s is %s', async (cause, verdict) => {
    const grid = await snippetsGrid()
    grid.worker('w1', { answer: () => ended(cause) })
    const id = await submitted(grid, { ...HELLO, expectedOutput: '' })
    await turns()
    expect((await shown(grid, id)).verdict).toBe(verdict)
  })

  test('output and expected output of 600 kB are compared, also in a rerun', async () => {
    const grid = await snippetsGrid()
    const text = 'line \n'.repeat(100_000)
    const digest = await putBlob(grid, text)
    const stdout = { inline: undefined, digest, droppedBytes: 0, droppedAt: 0 }
    grid.worker('w1', { answer: () => ran(stage('', { stdout })) })
    const id = await submitted(grid, { ...HELLO, expectedOutput: text.replaceAll(' ', '') })
    await turns()
    expect((await shown(grid, id, '?wait=5s')).verdict).toBe('accepted')
    const again = dataOf(await grid.ask(`/api/v1/tasks/${id}/rerun`, { method: 'POST' }), submittedAnswer)
    expect((await shown(grid, again.taskId, '?wait=5s')).verdict).toBe('accepted')
  })
})

test('requested files can be fetched, as attachments that no browser shows as a page', async () => {
  const grid = await snippetsGrid()
  const digest = await putBlob(grid, '<script>alert(1)</script>')
  const files = [{ path: 'out/page.html', digest, executable: false }]
  grid.worker('w1', { answer: () => ({ ...ran(stage('')), outputs: { ...ran().outputs, files } }) })
  const id = await submitted(grid, { ...HELLO, outputs: ['out/*'] })
  await turns()
  expect((await shown(grid, id)).artifacts).toEqual([{ path: 'out/page.html', size: digest.size, sha256: digest.hash }])
  const response = await grid.app.request(`/api/v1/tasks/${id}/artifacts/out/page.html`)
  expect(await response.text()).toBe('<script>alert(1)</script>')
  expect(response.headers.get('content-type')).toBe('application/octet-stream')
  expect(response.headers.get('content-disposition')).toMatch(/^attachment/)
  for (const path of ['out', 'out/none', 'out%2Fnone', '.windlass/run.none'])
    expect((await grid.ask(`/api/v1/tasks/${id}/artifacts/${path}`)).json.code).toBeGreaterThanOrEqual(40401)
})
