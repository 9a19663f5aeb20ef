import { describe, expect, test } from 'vitest'
import { addressRules } from '../../../base/address-rules.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import { memoryDeliveryLog } from '../../../services/snippets/callbacks/delivery-log.ts'
import { submittedAnswer } from './answers.ts'
import { dataOf, HELLO, snippetsGrid, submitted } from './snippets.fixture.ts'

describe('refused requests', () => {
  test.each<[string, unknown, readonly [number, string]]>([
    ['no JSON', '{', [40001, 'The body cannot be read as JSON']],
    ['an empty body', '', [40001, 'There is no body']],
    ['no object', '[]', [40002, 'the body']],
    ['no language', { code: 'x' }, [40002, 'language']],
    ['no code', { language: 'python' }, [40002, 'the request needs code or files']],
    ['an unknown field', { ...HELLO, Stdin: '' }, [40003, 'No field is called Stdin: did you mean stdin?']],
    [
      'an unknown limit',
      { ...HELLO, resourceLimit: { timeOut: '1s' } },
      [40003, 'resourceLimit.timeOut: did you mean timeout?'],
    ],
    [
      'an unknown field of a file',
      { language: 'c', files: [{ content: '', Name: 'x' }] },
      [40003, 'files.0.Name: did you mean name?'],
    ],
    ['an unknown language', { ...HELLO, language: 'cobol' }, [40004, 'No language is called "cobol" here']],
    ['a version that nobody has', { ...HELLO, version: '2' }, [40005, 'available are 3.11.2']],
    [
      'a duration without a unit',
      { ...HELLO, resourceLimit: { timeout: '30' } },
      [40006, 'resourceLimit.timeout must be a duration'],
    ],
    ['a duration with a space', { ...HELLO, resourceLimit: { timeout: '30 s' } }, [40006, 'resourceLimit.timeout']],
    ['no time at all', { ...HELLO, resourceLimit: { timeout: '0s' } }, [40006, 'resourceLimit.timeout']],
    [
      'a size in another case',
      { ...HELLO, resourceLimit: { memory: '256mb' } },
      [40006, 'resourceLimit.memory must be a size'],
    ],
    [
      'a processor as a word',
      { ...HELLO, resourceLimit: { cpu: 'one' } },
      [40006, 'resourceLimit.cpu must be a number of processors'],
    ],
    ['a callback to this machine', { ...HELLO, callback: { url: 'http://127.0.0.1/' } }, [40008, 'callback']],
    [
      'a file that leads out',
      { language: 'python', files: [{ name: '../x', content: '' }] },
      [40002, 'leads out of the working directory'],
    ],
    [
      'the same file twice',
      {
        language: 'python',
        files: [
          { name: 'a', content: '' },
          { name: 'a', content: '' },
        ],
      },
      [40002, 'files: "a" comes twice'],
    ],
    ['a second file without a name', { ...HELLO, files: [{ content: '' }] }, [40002, 'files.0.name']],
    ['base64 that is none', { ...HELLO, stdin: '!', stdinEncoding: 'base64' }, [40002, 'stdin: is not base64']],
    ['text that is none', '{"language":"python","code":"\\ud800"}', [40002, 'is no text']],
    [
      'more than a note takes',
      { ...HELLO, args: Array.from({ length: 100 }, () => 'x'.repeat(1000)) },
      [41301, 'arguments'],
    ],
  ])('%s is refused with its code and a detail', async (_, body, [code, words]) => {
    const grid = await snippetsGrid({
      callbacks: { log: memoryDeliveryLog(), addresses: addressRules({ reach: [], own: () => [] }) },
    })
    grid.worker('w1')
    const { status, json } = await grid.ask('/api/v1/tasks', { method: 'POST', body })
    expect(json.code, json.detail).toBe(code)
    expect(status).toBe(Math.floor(code / 100))
    expect(json.detail?.toLowerCase()).toContain(words.toLowerCase())
  })

  test.each([
    ['/api/v1/tasks/task_none', 40401],
    ['/api/v1/tasks/task_none/why', 40401],
    ['/api/v1/tasks/task_none/events', 40401],
    [`/api/v1/tasks/${'x'.repeat(500)}`, 40401],
    ['/api/v1/tasks?state=failed', 40007],
    ['/api/v1/tasks?status=done', 40007],
    ['/api/v1/tasks?limit=0', 40007],
    ['/api/v1/tasks?cursor=nonsense', 40007],
  ])('GET %s is refused with its code', async (path, code) => {
    const grid = await snippetsGrid()
    const { json } = await grid.ask(path)
    expect(json).toMatchObject({ code, message: expect.any(String), detail: expect.any(String) })
  })

  test('an invalid query of the answer creates no task', async () => {
    const grid = await snippetsGrid()
    const worker = grid.worker('w1')
    for (const query of ['encoding=hex', 'wait=soon', 'Wait=30s', 'wait=30s&encoding=utf16'])
      expect((await grid.ask(`/api/v1/tasks?${query}`, { body: HELLO })).json.code).toBeGreaterThan(40000)
    expect(worker.leases).toHaveLength(0)
  })

  test('a task of another instance is not shown, listed, cancelled or found by its key', async () => {
    const grid = await snippetsGrid()
    grid.worker('w1')
    const headers = { 'x-instance': 'theirs' }
    const body = { ...HELLO, idempotencyKey: 'k' }
    const theirs = dataOf(await grid.ask('/api/v1/tasks', { body, headers }), submittedAnswer).taskId
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/events'],
      ['GET', '/why'],
      ['GET', '/artifacts/.windlass/run.stdout'],
      ['DELETE', ''],
      ['POST', '/rerun'],
    ] as const)
      expect((await grid.ask(`/api/v1/tasks/${theirs}${path}`, { method })).json.code).toBe(40401)
    expect((await grid.ask('/api/v1/tasks')).json.data).toEqual({ tasks: [] })
    expect(await submitted(grid, body)).not.toBe(theirs)
    expect((await grid.ask(`/api/v1/tasks/${theirs}`, { headers })).json.code).toBe(0)
  })

  test('a task of another door is neither shown nor cancelled', async () => {
    const grid = await snippetsGrid()
    const { operation } = await grid.engine.submit(LOCAL_CALLER, {
      instance: '',
      origin: 'action',
      spec: Buffer.from('x'),
    })
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/cancel'],
      ['POST', '/rerun'],
    ] as const)
      expect((await grid.ask(`/api/v1/tasks/${operation}${path}`, { method })).json.code).toBe(40401)
    expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('queued')
  })
})
