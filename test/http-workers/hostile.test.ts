import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { sh, submitCommand } from '../commands/commands.ts'
import { type HttpGrid, startHttpGrid } from './http-grid.ts'

const WORKERS = '/api/v1/workers'

async function takeTask(grid: HttpGrid) {
  const worker = (await grid.call('POST', WORKERS, { name: 'w' })).json.id
  const { operation } = await submitCommand(grid, {
    stages: [sh('true')],
    outputs: { globs: ['**'], mostFiles: 2, mostBytes: 10 },
  })
  const task = (await grid.call('GET', `${WORKERS}/${worker}/work?wait=10s`)).json
  return { worker, operation, path: `${WORKERS}/${worker}/tasks/${task.id}` }
}

describe('a registration', () => {
  test.each([
    ['not json', '{', 'not JSON'],
    ['an array', [], 'expected object'],
    ['no name', {}, 'name'],
    ['a name of another kind', { name: 7 }, 'name'],
    ['a name with a line break', { name: 'a\nb' }, 'name'],
    ['half a character', { name: '\ud800' }, 'name'],
    ['a long id', { name: 'a', id: 'x'.repeat(201) }, 'id'],
    ['an id that is a path', { name: 'a', id: '..' }, 'id'],
    ['an unknown runtime', { name: 'a', runtime: 'vmware' }, 'docker, apptainer, none'],
    ['slots beyond reason', { name: 'a', slots: 1e9 }, '4096'],
    ['no slots', { name: 'a', slots: 0 }, 'slots'],
    ['labels that are a list', { name: 'a', labels: ['x'] }, 'labels'],
    ['a label that is a number', { name: 'a', labels: { x: 1 } }, 'labels.x'],
    ['a running task that is none', { name: 'a', running_tasks: ['nonsense'] }, 'not the id of an attempt'],
    [
      'too many labels',
      { name: 'a', labels: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [i, 'x'])) },
      'labels',
    ],
  ])('is refused with 400: %s', async (_, body, words) => {
    const grid = await startHttpGrid()
    const { status, json } = await grid.call('POST', WORKERS, body)
    expect(status).toBe(400)
    expect(json).toMatchObject({ status: 'error', error: { code: 'VALIDATION_ERROR' } })
    expect(String(json.error?.message)).toContain(words)
    expect(grid.engine.workers.list()).toEqual([])
  })
})

describe('the report of an HTTP worker on a task', () => {
  test.each([
    ['a path out of the room', { x: { class: 'File', basename: '../../etc/passwd', contents: 'x' } }],
    ['a path with a null', { x: { class: 'File', basename: 'a\0b', contents: 'x' } }],
    ['a reserved name', { x: { class: 'File', path: '.windlass/run.stdout', contents: 'x' } }],
    [
      'the same path twice',
      { x: { class: 'File', basename: 'a', contents: '' }, y: { class: 'File', basename: 'a', contents: '' } },
    ],
    [
      'a file that is a folder',
      { x: { class: 'File', path: 'a', contents: '' }, y: { class: 'File', path: 'a/b', contents: '' } },
    ],
    ['more files than asked for', { x: [1, 2, 3].map((i) => ({ class: 'File', basename: `f${i}`, contents: '' })) }],
    ['more bytes than asked for', { x: { class: 'File', basename: 'a', contents: '12345678901' } }],
    [
      'directories without end',
      { x: JSON.parse(`${'{"class":"Directory","listing":['.repeat(100)}1${']}'.repeat(100)}`) },
    ],
    ['words without end', { x: 'y'.repeat(300_000) }],
  ])('with outputs that have %s is refused with 400 and ends the attempt', async (_, outputs) => {
    const grid = await startHttpGrid()
    const { operation, path } = await takeTask(grid)
    const { status } = await grid.call('PUT', `${path}/complete`, { state: 'success', exit_code: 0, outputs })
    expect(status).toBe(400)
    expect((await grid.engine.find(LOCAL_CALLER, operation))?.end).toBeUndefined()
    expect((await grid.call('PUT', `${path}/complete`, { state: 'success', exit_code: 0 })).status).toBe(409)
  })

  test.each([
    ['a state that is none', { state: 'sideways' }],
    ['no state and no exit code', {}],
    ['an exit code that is none', { state: 'failed', exit_code: 1e12 }],
    ['that it still runs', { state: 'running' }],
    ['a result that is not base64', { state: 'success', result: '*' }],
    ['an unknown digest function', { state: 'success', digest_function: 'rot13', exit_code: 0 }],
    ['outputs that are a list', { state: 'success', outputs: [] }],
  ])('is refused with 400: %s', async (_, body) => {
    const grid = await startHttpGrid()
    const { path } = await takeTask(grid)
    expect((await grid.call('PUT', `${path}/complete`, body)).status).toBe(400)
  })

  test('with a malformed result is refused with 400 and ends the attempt', async () => {
    const grid = await startHttpGrid()
    const { path } = await takeTask(grid)
    const body = { state: 'success', whole: true, result: Buffer.from('nonsense').toString('base64') }
    expect((await grid.call('PUT', `${path}/complete`, body)).status).toBe(400)
    expect((await grid.call('PUT', `${path}/status`, { state: 'RUNNING' })).status).toBe(409)
  })

  test('on an unknown task or worker is refused with 409, 400 or 404', async () => {
    const grid = await startHttpGrid()
    const { worker } = await takeTask(grid)
    const send = { state: 'success', exit_code: 0 }
    expect((await grid.call('PUT', `${WORKERS}/${worker}/tasks/made-up.1-1/complete`, send)).status).toBe(409)
    expect((await grid.call('PUT', `${WORKERS}/${worker}/tasks/nonsense/status`, { state: 'RUNNING' })).status).toBe(
      400,
    )
    for (const [method, path] of [
      ['PUT', 'heartbeat'],
      ['GET', 'work'],
      ['GET', 'orders'],
      ['GET', ''],
      ['DELETE', ''],
    ] as const)
      expect(await grid.call(method, `${WORKERS}/nobody/${path}`.replace(/\/$/, ''))).toMatchObject({
        status: 404,
        json: { error: { code: 'NOT_FOUND' } },
      })
    for (const wait of ['soon', '-1s', '1e9s', '99999999s'])
      expect((await grid.call('GET', `${WORKERS}/${worker}/work?wait=${wait}`)).status).toBe(400)
  })

  test('a file with the name of a protocol field stays a file', async () => {
    const grid = await startHttpGrid()
    const worker = (await grid.call('POST', WORKERS, { name: 'w' })).json.id
    const files = ['_base_command', '__proto__'].map((path) => ({
      path,
      contents: Buffer.from('["rm"]'),
      executable: false,
    }))
    await submitCommand(grid, { stages: [sh('true')], inputs: { files } })
    const { inputs } = (await grid.call('GET', `${WORKERS}/${worker}/work?wait=10s`)).json
    expect(inputs?._base_command).toEqual(['/bin/sh', '-c', 'true'])
    expect([inputs?.file_1?.path, inputs?.file_2?.path]).toEqual(['_base_command', '__proto__'])
  })
})

test('a cross-site request of a web page gets no task', async () => {
  const grid = await startHttpGrid()
  const worker = (await grid.call('POST', WORKERS, { name: 'w' })).json.id
  const response = await fetch(`${grid.url}${WORKERS}/${worker}/work`, { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(response.status).toBe(403)
})

test('an HTTP worker that claims to run other task forms is given only plain tasks', async () => {
  const grid = await startHttpGrid()
  await grid.call('POST', WORKERS, { name: 'w', platform: { runs: ['action', 'command', 'plain'] } })
  expect(grid.engine.workers.list()[0]?.properties.filter(({ name }) => name === 'runs')).toEqual([
    { name: 'runs', value: 'plain' },
  ])
})

test('a body of 33 MiB is refused with 413 before its end', async () => {
  const grid = await startHttpGrid()
  const { path } = await takeTask(grid)
  const response = await fetch(`${grid.url}${path}/complete`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: 'x'.repeat(33 * 1024 * 1024),
  }).catch(() => ({ status: 413 })) // the connection may be closed before all was sent
  expect(response.status).toBe(413)
})
