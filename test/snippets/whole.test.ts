import { expect, test } from 'vitest'
import type { TaskEvent } from '../../src/client/snippets/snippet-answers.ts'
import { SnippetsError } from '../../src/client/snippets/snippets.ts'
import { codeServer, codeWorker, offering, ownFolder } from './code-grid.ts'

async function codeGrid() {
  const server = await codeServer(ownFolder())
  await codeWorker(server)
  await offering(server, ['bash', 'c'])
  return server
}

test('the typed client runs programs with arguments, stdin, files, limits and artifacts', async () => {
  const { client, httpUrl } = await codeGrid()

  const hello = await client.run({
    language: 'bash',
    code: 'echo "Hello, $1!"; cat',
    args: ['World'],
    stdin: 'typed\n',
  })
  expect(hello).toMatchObject({
    status: 'completed',
    language: 'bash',
    result: { output: 'Hello, World!\ntyped\n', error: '', exitCode: 0 },
    assignedClient: 'w1',
  })

  const plain = await client.run({ language: 'sh', code: 'echo out; echo err >&2; exit 3' })
  expect(plain).toMatchObject({ status: 'failed', result: { output: 'out\n', error: 'err\n', exitCode: 3 } })

  const compiled = await client.run({
    language: 'c',
    files: [
      {
        name: 'main.c',
        content: '#include "lib/two.h"\n#include <stdio.h>\nint main() { printf("%d\\n", two()); return 0; }\n',
      },
      { name: 'lib/two.h', content: 'int two(void);\n' },
      { name: 'lib/two.c', content: 'int two(void) { return 2; }\n' },
    ],
    expectedOutput: '2',
  })
  expect(compiled, JSON.stringify(compiled)).toMatchObject({ status: 'completed', verdict: 'accepted' })
  expect(compiled.result?.stages.map(({ name }) => name)).toEqual(['compile', 'run'])

  const wrong = await client.run({ language: 'c', code: 'int main( {', expectedOutput: '' })
  expect(wrong).toMatchObject({ status: 'failed', verdict: 'compile-error' })
  expect(wrong.result?.error).toContain('main.c')

  const slow = await client.run({ language: 'bash', code: 'echo begun; sleep 60', resourceLimit: { timeout: '1s' } })
  expect(slow).toMatchObject({ status: 'timeout', result: { output: 'begun\n' } })

  const made = await client.run({
    language: 'bash',
    code: 'mkdir out; echo 42 > out/answer.txt',
    outputs: ['out/*.txt'],
  })
  expect(made.artifacts).toMatchObject([{ path: 'out/answer.txt', size: 3 }])
  expect(Buffer.from(await client.artifact(made.taskId, 'out/answer.txt')).toString()).toBe('42\n')

  expect((await client.list({ status: ['completed'], language: 'bash' })).tasks.length).toBe(2)
  const refused = await client.submit({ language: 'cobol', code: '' }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(SnippetsError)
  expect(refused).toMatchObject({ code: 40004, status: 400 })

  const response = await fetch(`${httpUrl}/api/v1/tasks`, { method: 'POST', body: '{"language":"bash","code":"id"}' })
  expect(response.status).toBe(415) // a content type that a web page could send without a preflight
})

test('client.events streams output while the program runs, and client.cancel stops it', async () => {
  const { client } = await codeGrid()
  const { taskId } = await client.submit({ language: 'bash', code: 'echo first; sleep 60; echo never' })
  const events: TaskEvent[] = []
  for await (const event of client.events(taskId)) {
    events.push(event)
    if (event.event === 'output') await client.cancel(taskId)
  }
  expect(events.filter(({ event }) => event === 'output')).toMatchObject([
    { output: { stream: 'stdout', text: 'first\n' } },
  ])
  expect(events.at(-1)).toMatchObject({ event: 'end', task: { taskId, status: 'cancelled' } })
})

test('client.events resumes after a restart of the server', async () => {
  const folder = ownFolder()
  const first = await codeServer(folder)
  await codeWorker(first)
  await offering(first, ['bash'])
  const { taskId } = await first.client.submit({ language: 'bash', code: 'echo one; sleep 4; echo two' })
  const texts: string[] = []
  const reading = (async () => {
    for await (const event of first.client.events(taskId)) {
      if (event.event === 'output') texts.push(event.output.text)
      if (event.event === 'end') return event.task
    }
    return undefined
  })()
  while (texts.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await first.stop()
  const portOf = (address: string) => Number(new URL(`http://${address}`).port)
  await codeServer(folder, { grpc: portOf(first.grpc), http: portOf(first.http) })
  const task = await reading
  expect(task).toMatchObject({ status: 'completed', result: { output: 'one\ntwo\n' } })
})
