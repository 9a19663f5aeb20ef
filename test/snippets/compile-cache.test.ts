/** A program that was compiled once is not compiled again, as shown by the API's responses alone. */
import { expect, test } from 'vitest'
import type { SnippetTaskView } from '../../src/client/snippets/snippet-answers.ts'
import { describeWith } from '../../src/testing/require.ts'
import { type CodeServer, codeServer, codeWorker, offering, ownFolder } from './code-grid.ts'

const DOUBLING = {
  language: 'c++',
  code: `#include <iostream>
int main() { int n; std::cin >> n; std::cout << 2 * n << std::endl; }
`,
}
const GREETING = {
  language: 'typescript',
  code: `import { readFileSync } from 'node:fs'
const name: string = readFileSync(0, 'utf8').trim()
console.log('Hello, ' + name)
`,
}

async function gridWith(language: string, protocol?: 'grpc' | 'http', folder = ownFolder()): Promise<CodeServer> {
  const server = await codeServer(folder)
  await codeWorker(server, [language], protocol)
  await offering(server, [language])
  return server
}

/** The stages of a task, and whether they were cached. */
const stagesOf = ({ result }: SnippetTaskView) => result?.stages.map(({ name, cached = false }) => ({ name, cached }))

const COMPILED = [
  { name: 'compile', cached: false },
  { name: 'run', cached: false },
]
const FOUND = [
  { name: 'compile', cached: true },
  { name: 'run', cached: false },
]

async function compilesOnce(server: CodeServer, program: typeof DOUBLING, inputs: readonly [string, string][]) {
  const reported: SnippetTaskView[] = []
  for (const [stdin] of inputs) reported.push(await server.client.run({ ...program, stdin }))
  expect(reported.map(({ result }) => result?.output)).toEqual(inputs.map(([, output]) => output))
  expect(reported.map(stagesOf)).toEqual(inputs.map((_, at) => (at === 0 ? COMPILED : FOUND)))
  // The task itself is new: it ran, and is no cached result.
  expect(reported.map(({ cached }) => cached)).toEqual(inputs.map(() => false))
  const other = await server.client.run({
    ...program,
    code: `${program.code}// changed\n`,
    stdin: inputs[0]?.[0] ?? '',
  })
  expect(stagesOf(other)).toEqual(COMPILED)
}

const NUMBERS: [string, string][] = [
  ['21', '42\n'],
  ['4', '8\n'],
  ['-1', '-2\n'],
]
const NAMES: [string, string][] = [
  ['Ann', 'Hello, Ann\n'],
  ['Ben', 'Hello, Ben\n'],
]

describeWith(['bwrap', 'g++'], 'the compile cache of C++', () => {
  test('compiles the same program with other input only once', async () => {
    await compilesOnce(await gridWith('c++'), DOUBLING, NUMBERS)
  })

  test('works with an HTTP worker', async () => {
    await compilesOnce(await gridWith('c++', 'http'), DOUBLING, NUMBERS)
  })

  test('survives a restart of the server', async () => {
    const folder = ownFolder()
    const before = await gridWith('c++', 'grpc', folder)
    expect(stagesOf(await before.client.run({ ...DOUBLING, stdin: '1' }))).toEqual(COMPILED)
    await before.stop()
    const after = await gridWith('c++', 'http', folder)
    expect(stagesOf(await after.client.run({ ...DOUBLING, stdin: '2' }))).toEqual(FOUND)
  })
})

describeWith(['bwrap', 'esbuild'], 'the compile cache of TypeScript', () => {
  test('compiles the same program with other input only once', async () => {
    await compilesOnce(await gridWith('typescript'), GREETING, NAMES)
  })
})
