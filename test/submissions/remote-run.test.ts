import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderOf, shellTool, type Told } from '../cwl/documents.ts'
import { cwlHere, startCwl } from '../cwl/run-here.ts'
import { CALLS_MAY_LEAVE, callingHome, callingTool } from './calling-home.ts'
import { startWorkflowServer, type WorkflowServer } from './workflow-server.ts'

let server: WorkflowServer
beforeAll(async () => {
  server = await startWorkflowServer({ env: CALLS_MAY_LEAVE })
})
afterAll(() => server?.stop())

async function runThere(at: string, ...words: readonly string[]) {
  const files = words.map((one) => join(at, one))
  const end = await cwlHere('run', '--server', server.url, '--quiet', `--outdir=${at}/out`, ...files)
  const outputs = (end.exitCode === 0 ? JSON.parse(end.stdout) : {}) as Readonly<Record<string, Told>>
  return { ...end, outputs }
}

const file = (glob: string): object => ({ type: 'File', outputBinding: { glob } })
const input = { inputs: { text: 'File' }, words: ['$(inputs.text.path)'] }
const job = JSON.stringify({ text: { class: 'File', location: 'data.txt' } })

describe('windlass cwl run --server', () => {
  test('uploads inputs, runs the tool on a worker, and downloads outputs', async () => {
    const tool = shellTool('tr a-z A-Z <"$1" >big.txt; pwd >where', {
      ...input,
      outputs: { big: file('big.txt'), where: file('where') },
    })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, 'data.txt': 'hello' })
    const { outputs, stderr } = await runThere(at, 'tool.cwl', 'job.json')
    expect(stderr).toBe('')
    expect(outputs.big).toMatchObject({ path: `${at}/out/big.txt`, size: 5, basename: 'big.txt' })
    expect(readFileSync(`${at}/out/big.txt`, 'utf8')).toBe('HELLO')
    expect(readFileSync(`${at}/out/where`, 'utf8')).toBe('/room/out\n')
    expect(readdirSync(`${at}/out`).sort()).toEqual(['big.txt', 'where']) // and no file of ours
  })

  test('uploads and downloads a directory, and follows symlinks in the input', async () => {
    const tool = shellTool('cp -r "$1" copy; mkdir copy/empty', {
      inputs: { folder: 'Directory' },
      words: ['$(inputs.folder.path)'],
      outputs: { out: { type: 'Directory', outputBinding: { glob: 'copy' } } },
    })
    const at = folderOf({
      'tool.cwl': tool,
      'job.json': JSON.stringify({ folder: { class: 'Directory', location: 'd' } }),
      'd/x': 'one',
      'd/e/y': 'two',
      elsewhere: 'three',
    })
    symlinkSync('../elsewhere', `${at}/d/link`)
    symlinkSync('.', `${at}/d/self`)
    expect((await runThere(at, 'tool.cwl', 'job.json')).exitCode).toBe(0)
    expect(readdirSync(`${at}/out/copy`, { recursive: true }).sort()).toEqual(['e', 'e/y', 'empty', 'link', 'x'])
    expect(readFileSync(`${at}/out/copy/link`, 'utf8')).toBe('three')
  })

  test('exits 1 when a command fails, with the end of its output and its exit code', async () => {
    const at = folderOf({ 'tool.cwl': shellTool('echo no such luck >&2; exit 3') })
    const { exitCode, stderr } = await runThere(at, 'tool.cwl')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('no such luck')
    expect(stderr).toContain('exit code 3')
  })

  test('exits 33 when no worker offers the required container', async () => {
    const requirements = { DockerRequirement: { dockerPull: 'docker.io/nothing' } }
    const at = folderOf({ 'tool.cwl': shellTool('true', { requirements }) })
    expect((await runThere(at, 'tool.cwl')).exitCode).toBe(33)
  })

  test('refuses a symlink out of the room as an output', async () => {
    const at = folderOf({ 'tool.cwl': shellTool('ln -s /etc/hostname stolen', { outputs: { out: file('stolen') } }) })
    expect((await runThere(at, 'tool.cwl')).exitCode).toBe(1)
    expect(existsSync(`${at}/out/stolen`)).toBe(false)
  })

  test('does not accept a file of the server as an input', async () => {
    const body = {
      workflow: JSON.parse(shellTool('true', { inputs: { text: 'File' } })),
      inputs: { text: fileAt('file:///etc/passwd') },
    }
    const { data } = await post('/api/v1/submissions', body)
    const ended = await untilOver(data.id)
    expect(ended).toMatchObject({ state: 'FAILED', error: { message: 'there is no file at file:///etc/passwd' } })
  })

  test('does not run a cached step again', async () => {
    const script = 'date +%s%N >now'
    const at = folderOf({ 'tool.cwl': shellTool(script, { outputs: { out: file('now') } }) })
    await runThere(at, 'tool.cwl')
    const first = readFileSync(`${at}/out/now`, 'utf8')
    await runThere(at, 'tool.cwl')
    expect(readFileSync(`${at}/out/now`, 'utf8')).toBe(first)
  })

  test('cancels the submission on Ctrl+C', async () => {
    const home = await callingHome()
    const tool = { cwlVersion: 'v1.2', ...callingTool(home.port, 600) }
    const at = folderOf({ 'tool.cwl': JSON.stringify(tool), 'job.json': '{"name":"one"}' })
    const words = ['run', '--server', server.url, `--outdir=${at}/out`, join(at, 'tool.cwl'), join(at, 'job.json')]
    const running = startCwl(words)
    await home.count(1)
    running.signals.emit('SIGINT', 'SIGINT')
    expect((await running.ended).exitCode).toBe(130)
    const { data } = await get('/api/v1/submissions?limit=1')
    expect(data.submissions).toMatchObject([{ name: 'tool.cwl', state: 'CANCELLED' }])
    // The worker is free again.
    expect((await runThere(folderOf({ 'tool.cwl': shellTool('true') }), 'tool.cwl')).exitCode).toBe(0)
  })
})

const fileAt = (location: string) => ({ class: 'File', location })

interface Answer {
  readonly status: string
  readonly data: Readonly<Record<string, never>> & { readonly id: string; readonly submissions: readonly object[] }
  readonly error: { readonly code: string; readonly message: string; readonly missing?: readonly string[] }
}

const get = async (path: string): Promise<Answer> => (await fetch(server.url + path)).json() as Promise<Answer>

async function post(path: string, body: object): Promise<Answer & { readonly code: number }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { code: response.status, ...((await response.json()) as Answer) }
}

/** Follows the events, as a page in a browser would. */
async function untilOver(id: string): Promise<object> {
  const text = await (await fetch(`${server.url}/api/v1/submissions/${id}/events`)).text()
  const last = text.trimEnd().split('\n\n').at(-1) ?? ''
  return JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? '{}')
}

describe('the submissions API', () => {
  const echo = JSON.parse(
    shellTool('echo "$1" >out', {
      inputs: { word: 'string' },
      words: ['$(inputs.word)'],
      outputs: { out: file('out') },
    }),
  )

  test('streams each step as events, and returns the outputs at the end', async () => {
    const { code, data } = await post('/api/v1/submissions', {
      workflow: echo,
      inputs: { word: 'x' },
      labels: { team: 'blue' },
      name: 'mine',
    })
    expect(code).toBe(201)
    expect(data).toMatchObject({ name: 'mine', labels: { team: 'blue' }, outputs: null })
    const ended = await untilOver(data.id)
    expect(ended).toMatchObject({
      state: 'COMPLETED',
      counts: { done: 1 },
      outputs: { out: { basename: 'out', size: 2 } },
    })
    const { data: again } = await get(`/api/v1/submissions/${data.id}`)
    expect(again).toMatchObject({ state: 'COMPLETED', steps: [{ path: '', state: 'SUCCESS' }] })
    const listed = await get('/api/v1/submissions?label=team:blue&state=COMPLETED,FAILED')
    expect(listed.data.submissions.length).toBeGreaterThan(0)
    expect((await get('/api/v1/submissions?label=team:red')).data.submissions).toEqual([])
  })

  test('refuses a submission with 409 and the names of missing blobs', async () => {
    const location = `cas:file/sha256/${'ab'.repeat(32)}/5`
    const { code, error } = await post('/api/v1/submissions', { workflow: echo, inputs: { word: fileAt(location) } })
    expect([code, error.code, error.missing]).toEqual([409, 'CONFLICT', [`${'ab'.repeat(32)}/5`]])
  })

  test.each([
    ['no workflow', {}],
    ['a workflow that is text', { workflow: 'echo' }],
    ['fields that nobody knows', { workflow: {}, wish: 1 }],
    ['a priority beyond all', { workflow: {}, priority: 1e9 }],
    ['an instance that cannot be', { workflow: {}, instance: 'a//b' }],
    ['labels that are no text', { workflow: {}, labels: { a: 1 } }],
    ['a nest without end', { workflow: { deep: JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) } }],
  ])('refuses %s with 400', async (_, body) => {
    const { code, status } = await post('/api/v1/submissions', body)
    expect([code, status]).toEqual([400, 'error'])
  })

  test('an invalid document ends in FAILED with the reason', async () => {
    const { data } = await post('/api/v1/submissions', {
      workflow: { cwlVersion: 'v1.2', class: 'Workflow', wrong: 1 },
    })
    expect(await untilOver(data.id)).toMatchObject({ state: 'FAILED', outputs: null, error: { step: '' } })
  })

  test('an endless expression does not delay other runs', async () => {
    const endless = {
      cwlVersion: 'v1.2',
      class: 'ExpressionTool',
      requirements: { InlineJavascriptRequirement: {} },
      inputs: {},
      outputs: { out: 'Any' },
      expression: `$\{ while (true); }`,
    }
    const { data } = await post('/api/v1/submissions', { workflow: endless })
    const { data: other } = await post('/api/v1/submissions', { workflow: echo, inputs: { word: 'y' } })
    expect(await untilOver(other.id)).toMatchObject({ state: 'COMPLETED' })
    expect((await get(`/api/v1/submissions/${data.id}`)).data).toMatchObject({ state: 'RUNNING' })
    expect((await post(`/api/v1/submissions/${data.id}/cancel`, {})).data).toMatchObject({ state: 'CANCELLED' })
  })

  test('an unknown submission is NOT_FOUND', async () => {
    expect((await get('/api/v1/submissions/nothing')).error.code).toBe('NOT_FOUND')
    expect((await get('/api/v1/submissions/..%2f..%2fetc')).error.code).toBe('NOT_FOUND')
  })
})
