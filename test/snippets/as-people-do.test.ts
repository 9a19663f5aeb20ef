/** Requests of typical API users, and the details that they depend on. */
import { expect, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { type CodeServer, codeServer, codeWorker, offering, ownFolder } from './code-grid.ts'

const LANGUAGES = ['bash', 'python', 'c']

async function grid(): Promise<CodeServer> {
  const server = await codeServer(ownFolder())
  await codeWorker(server, LANGUAGES)
  await offering(server, LANGUAGES)
  return server
}

const TASKS = '/api/v1/tasks'

async function asked({ httpUrl }: CodeServer, path: string, init: RequestInit = {}) {
  const response = await fetch(`${httpUrl}${path}`, init)
  return (await response.json()) as { code: number; detail?: string; data: Record<string, unknown> }
}

describeWith('bwrap', 'the snippets API', () => {
  test('returns Unicode, binary output and metadata unchanged', async () => {
    const server = await grid()
    const stdin = 'ünï 漢字 👩‍👩‍👧\u0000\r\n'
    const metadata = { 'naïve key': '日本', emoji: '🎉' }
    const code = 'import sys; sys.stdout.write("héllo 你好 " + sys.stdin.buffer.read().decode())'
    const reported = await server.client.run({ language: 'python', code, stdin, metadata })
    expect(reported.result?.output).toBe(`héllo 你好 ${stdin}`)
    expect(reported.metadata).toEqual(metadata)
    const { tasks } = await server.client.list({ metadata: { 'naïve key': '日本' } })
    expect(tasks.map(({ taskId }) => taskId)).toEqual([reported.taskId])
    const bytes = await server.client.run({
      language: 'python',
      code: 'import sys; sys.stdout.buffer.write(bytes(range(256)))',
    })
    const { data } = await asked(server, `${TASKS}/${bytes.taskId}?encoding=base64`)
    const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('base64')
    expect(data).toMatchObject({ result: { output: every } })
  })

  test('accepts CRLF line endings and empty code', async () => {
    const { client } = await grid()
    const python = await client.run({ language: 'python', code: 'x = 1\r\nif x:\r\n  print(x)\r\n' })
    expect(python).toMatchObject({ status: 'completed', result: { output: '1\n' } })
    const c = '#include <stdio.h>\r\n#define A \\\r\n 3\r\nint main(void) { printf("%d", A); }\r\n'
    expect((await client.run({ language: 'c', code: c })).result?.output).toBe('3')
    expect(await client.run({ language: 'python', code: '' })).toMatchObject({ status: 'completed' })
    const nothing = await client.run({ language: 'c', code: '' })
    expect(nothing).toMatchObject({ status: 'failed', failure: { message: 'compile exited with 1' } })
  })

  test('truncates output above the limit and reports the dropped bytes', async () => {
    const { client } = await grid()
    const code = 'for i in range(300000): print(f"{i:07}")'
    const { status, result } = await client.run({ language: 'python', code, resourceLimit: { output: '8KiB' } })
    const [stage] = result?.stages ?? []
    const { at = 0, bytes = 0 } = stage?.dropped?.output ?? {}
    expect([status, result?.truncated, bytes + (result?.output.length ?? 0)]).toEqual(['completed', true, 2_400_000])
    const whole = Array.from({ length: 300_000 }, (_, i) => `${String(i).padStart(7, '0')}\n`).join('')
    expect(result?.output).toBe(whole.slice(0, at) + whole.slice(at + bytes))
  })

  test('accepts 1,000 files, and returns artifacts through symlinks, but not those that leave the room', async () => {
    const server = await grid()
    const files = Array.from({ length: 999 }, (_, i) => ({ name: `in/${i % 37}/${i}.txt`, content: `${i}` }))
    const code = [
      'mkdir -p "out/a b"; find in -type f | wc -l',
      'echo 42 > "out/a b/ä?.txt"; echo p > out/p.txt; ln -s p.txt out/link',
    ].join('\n')
    const reported = await server.client.run({
      language: 'bash',
      files: [{ name: 'main.sh', content: code }, ...files],
      outputs: ['out/**'],
    })
    expect(reported, JSON.stringify(reported.failure)).toMatchObject({
      status: 'completed',
      result: { output: '999\n' },
    })
    expect(reported.artifacts?.map(({ path }) => path).sort()).toEqual(['out/a b/ä?.txt', 'out/link', 'out/p.txt'])
    for (const [path, text] of [
      ['out/a b/ä?.txt', '42\n'],
      ['out/link', 'p\n'],
    ] as const) {
      const place = path.split('/').map(encodeURIComponent).join('/')
      const response = await fetch(`${server.httpUrl}${TASKS}/${reported.taskId}/artifacts/${place}`)
      expect([response.status, await response.text()]).toEqual([200, text])
    }
    const stolen = await server.client.run({
      language: 'bash',
      code: 'ln -s /etc/passwd out.txt',
      outputs: ['*.txt'],
    })
    expect([stolen.status, stolen.artifacts]).toEqual(['failed', undefined])
    expect(stolen.failure?.message).toContain('out.txt')
  })

  test('accepts a cancel of a cancelled or finished task, and reruns a failed one', async () => {
    const server = await grid()
    const { client } = server
    const { taskId } = await client.submit({ language: 'bash', code: 'sleep 60' })
    const twice = [0, 1].map(() => asked(server, `${TASKS}/${taskId}?wait=20s`, { method: 'DELETE' }))
    for (const { code, data } of await Promise.all(twice)) expect([code, data.status]).toEqual([0, 'cancelled'])
    const failed = await client.run({ language: 'bash', code: 'exit 3', metadata: { a: 'b' }, idempotencyKey: 'k' })
    const after = await asked(server, `${TASKS}/${failed.taskId}/cancel`, { method: 'POST' })
    expect([after.code, after.data.status]).toEqual([0, 'failed'])
    const again = await asked(server, `${TASKS}/${failed.taskId}/rerun?wait=20s`, { method: 'POST' })
    expect(again.data).toMatchObject({ status: 'failed', result: { exitCode: 3 }, metadata: { a: 'b' } })
    expect(again.data.taskId).not.toBe(failed.taskId)
    expect((await asked(server, `${TASKS}/${failed.taskId}/cancel?wiat=1s`, { method: 'POST' })).code).toBe(40007)
  })

  test('refuses a misspelled query parameter with 40007', async () => {
    const server = await grid()
    const wrong = ['status=', 'status=failed,', 'language=', 'metadata=x', 'limit=501', 'cursor=1.5.6', 'wait=3s']
    for (const query of wrong) {
      const { code, detail } = await asked(server, `${TASKS}?${query}`)
      expect([query, code, detail]).toEqual([query, 40007, expect.stringContaining(query.split('=')[0] ?? '')])
    }
    expect((await asked(server, '/api/v1/languages?name=x')).code).toBe(40007)
  })
})
