import { expect, test } from 'vitest'
import { realClock } from '../runtimes/rooms.fixture.ts'
import type { Process } from '../workflow/process/process.ts'
import { sparingJavaScript } from './expressions-for.ts'

const script = { code: '1 + 1', isBody: false, library: [], context: { inputs: {}, self: null, runtime: {} } }
const asking = (...requirements: readonly object[]) =>
  ({ class: 'CommandLineTool', requirements, hints: [] }) as unknown as Process
const withScript = asking({ class: 'InlineJavascriptRequirement' })

test('work that comes to no JavaScript is done once', async () => {
  let times = 0
  await sparingJavaScript(withScript, realClock, async () => times++)
  expect(times).toBe(1)
})

test('work that does is done again, by the machine that runs it, also where it keeps the first refusal to itself', async () => {
  expect(await sparingJavaScript(withScript, realClock, async (expressions) => expressions.run(script))).toBe(2)
  const quiet = sparingJavaScript(withScript, realClock, async (expressions) => {
    try {
      return expressions.run(script)
    } catch {
      return 'nothing'
    }
  })
  expect(await quiet).toBe(2)
})

test('a failure of its own stays one', async () => {
  const failing = sparingJavaScript(withScript, realClock, async () => {
    throw new Error('no such file')
  })
  await expect(failing).rejects.toThrow('no such file')
})

test('a process that asks for no JavaScript gets none', async () => {
  await expect(sparingJavaScript(asking(), realClock, async (run) => run.run(script))).rejects.toThrow('asks for none')
})
