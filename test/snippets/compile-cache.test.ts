/** What was compiled once is not compiled again, told by nothing but what the API answers. */
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

/** Which stages there were, and whether they ran. */
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
  const told: SnippetTaskView[] = []
  for (const [stdin] of inputs) told.push(await server.client.run({ ...program, stdin }))
  expect(told.map(({ result }) => result?.output)).toEqual(inputs.map(([, output]) => output))
  expect(told.map(stagesOf)).toEqual(inputs.map((_, at) => (at === 0 ? COMPILED : FOUND)))
  // The task itself is a new one: it ran, and is no result of before.
  expect(told.map(({ cached }) => cached)).toEqual(inputs.map(() => false))
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

describeWith(['bwrap', 'g++'], 'C++', () => {
  test('the same program with other input is not compiled again', async () => {
    await compilesOnce(await gridWith('c++'), DOUBLING, NUMBERS)
  })

  test('nor by a worker that speaks HTTP', async () => {
    await compilesOnce(await gridWith('c++', 'http'), DOUBLING, NUMBERS)
  })

  test('nor after a restart of the server', async () => {
    const folder = ownFolder()
    const before = await gridWith('c++', 'grpc', folder)
    expect(stagesOf(await before.client.run({ ...DOUBLING, stdin: '1' }))).toEqual(COMPILED)
    await before.stop()
    const after = await gridWith('c++', 'http', folder)
    expect(stagesOf(await after.client.run({ ...DOUBLING, stdin: '2' }))).toEqual(FOUND)
  })
})

describeWith(['bwrap', 'esbuild'], 'TypeScript', () => {
  test('is made into something once', async () => {
    await compilesOnce(await gridWith('typescript'), GREETING, NAMES)
  })
})
