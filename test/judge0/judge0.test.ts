/** Judge0's API with programs that really run, called as its documentation describes. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { zipOf } from '../../src/doors/http/judge0/zip-of.fixture.ts'
import { describeWith } from '../../src/testing/require.ts'
import { dropInGrid } from '../piston/drop-in-grid.ts'

async function judge0() {
  const { url } = await dropInGrid()
  const post = async (path: string, body: object) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const get = async (path: string) => JSON.parse(await (await fetch(`${url}${path}`)).text())
  const run = async (body: object, fields = 'stdout,stderr,compile_output,status_id,message,exit_code,exit_signal') =>
    (await post(`/submissions?wait=true&fields=${fields}`, body)).body
  return { post, get, run }
}

const [PYTHON, BASH, C, PROJECT] = [71, 46, 50, 89]

describeWith('bwrap', 'the Judge0 API', () => {
  test('reports the status of a program by its output, exit code and time limits', async () => {
    const { run } = await judge0()
    const adding = { language_id: PYTHON, source_code: 'print(sum(map(int, input().split())))', stdin: '19 23' }
    expect(await run({ ...adding, expected_output: '42\n' })).toMatchObject({
      stdout: '42\n',
      status_id: 3,
      exit_code: 0,
    })
    expect(await run({ ...adding, expected_output: '43' })).toMatchObject({ status_id: 4 })
    expect(await run({ language_id: 92, source_code: 'exit(3)' })).toMatchObject({
      status_id: 11,
      exit_code: 3,
      message: 'Exited with error status 3',
    })
    const arguing = { language_id: PYTHON, source_code: 'import sys; print(sys.argv[1:])' }
    expect(await run({ ...arguing, command_line_arguments: `a "b c" '$HOME'` })).toMatchObject({
      stdout: "['a', 'b c', '$HOME']\n",
    })
    expect(await run({ language_id: BASH, source_code: 'sleep 30', wall_time_limit: 1 })).toMatchObject({
      status_id: 5,
    })
    expect(
      await run({ language_id: PYTHON, source_code: 'while True: pass', cpu_time_limit: 0.2, cpu_extra_time: 0 }),
    ).toMatchObject({
      status_id: 5,
    })
  })

  test('compiles C, and reports the signal of a crash', async () => {
    const { run } = await judge0()
    expect(await run({ language_id: C, source_code: 'int main(void) { return *(volatile int *)0; }' })).toMatchObject({
      status_id: 7,
      exit_signal: 11,
      exit_code: null,
    })
    expect(
      await run({ language_id: C, source_code: '#include <stdlib.h>\nint main(void) { abort(); }' }),
    ).toMatchObject({
      status_id: 10,
    })
    const wrong = await run({ language_id: C, source_code: 'nonsense' })
    expect(wrong).toMatchObject({ status_id: 6, stdout: null, exit_code: null })
    expect(wrong.compile_output).toContain('error')
    const measured = await run({ language_id: C, source_code: 'int main(void) { return 0; }' }, 'time,wall_time,memory')
    expect([Number(measured.time), Number(measured.wall_time), measured.memory].every((amount) => amount >= 0)).toBe(
      true,
    )
  })

  const HEADED = [
    { name: 'answer.h', contents: '#define ANSWER 42\n' },
    {
      name: 'main.c',
      contents: '#include <stdio.h>\n#include "answer.h"\nint main(void) { printf("%d\\n", ANSWER); }\n',
    },
  ]
  const zipped = (files: Parameters<typeof zipOf>[0]): string => zipOf(files).toString('base64')

  test('accepts several files as a zip archive, with compile and run scripts of their own', async () => {
    const { run } = await judge0()
    const headed = { language_id: C, source_code: HEADED[1]?.contents, additional_files: zipped(HEADED.slice(0, 1)) }
    expect(await run(headed)).toMatchObject({ stdout: '42\n', status_id: 3 })
    const compile = { name: 'compile', contents: 'echo compiling; gcc -o program main.c\n' }
    const project = [...HEADED, compile, { name: 'run', contents: './program; cat\n' }]
    expect(await run({ language_id: PROJECT, additional_files: zipped(project), stdin: 'in' })).toMatchObject({
      stdout: '42\nin',
      compile_output: 'compiling\n',
      status_id: 3,
    })
    const broken = [...project.slice(0, 1), compile, { name: 'run', contents: 'echo never\n' }]
    const failed = await run({ language_id: PROJECT, additional_files: zipped(broken) })
    expect(failed).toMatchObject({ status_id: 6, stdout: null })
    expect(failed.compile_output).toContain('compiling\n')
  })

  test('creates and returns a batch in Base64', async () => {
    const { post, get } = await judge0()
    const coded = (words: string): string => Buffer.from(words).toString('base64')
    const submissions = ['one', 'two'].map((word) => ({
      language_id: BASH,
      source_code: coded(`read x; echo ${word} $x`),
      stdin: coded('é\n'),
    }))
    const made = await post('/judge0/submissions/batch?base64_encoded=true', { submissions })
    expect(made.status).toBe(201)
    const tokens = made.body.map(({ token }: { token: string }) => token).join(',')
    const shown = async () =>
      (await get(`/submissions/batch?tokens=${tokens}&base64_encoded=true&fields=stdout,status_id`)).submissions
    await expect.poll(shown).toEqual(['one', 'two'].map((word) => ({ stdout: coded(`${word} é\n`), status_id: 3 })))
  })

  test('sends a callback by PUT after all runs, and retries it when it is refused', async () => {
    const { post } = await judge0()
    const received: { method: string | undefined; body: string }[] = []
    const server = createServer(async (request: IncomingMessage, response) => {
      received.push({ method: request.method, body: await text(request) })
      response.writeHead(received.length === 1 ? 500 : 204).end()
    })
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const callback_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/done`
    const made = await post('/submissions', {
      language_id: BASH,
      source_code: 'echo hi',
      number_of_runs: 2,
      callback_url,
    })
    await expect.poll(() => received.length).toBe(2)
    expect(received[0]).toEqual(received[1])
    expect(received[0]?.method).toBe('PUT')
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      token: made.body.token,
      stdout: Buffer.from('hi\n').toString('base64'),
      status: { id: 3, description: 'Accepted' },
    })
  })
})
