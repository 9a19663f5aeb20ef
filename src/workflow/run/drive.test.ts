// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expressions of CWL
import { beforeAll, expect, test } from 'vitest'
import { invalid } from '../../base/fault.ts'
import { fetchFrom, HOME, loadText, memoryFiles } from '../documents.fixture.ts'
import type { Expressions } from '../expressions/expressions.ts'
import { quickJsExpressions } from '../expressions/quickjs.ts'
import { expandFormats, readInputObject } from '../loading/input-object.ts'
import { withCallerRequirements } from '../process/requirement.ts'
import type { ValueRecord } from '../values/value.ts'
import { answerWork, type CommandCall, drive, resume } from './drive.ts'
import { begin } from './machine.ts'
import type { RunState } from './state.ts'

let expressions: Expressions
beforeAll(() => {
  expressions = quickJsExpressions({ monotonic: () => performance.now() })
})

const run = async (text: string, inputs: ValueRecord, runCommand: (call: CommandCall) => Promise<ValueRecord>) =>
  drive(await loadText(text), inputs, { expressions, files: memoryFiles({ '/home/f.txt': 'five!' }), runCommand })

const noCommand = () => Promise.reject(new Error('no command was expected'))

test('an ExpressionTool runs without a command', async () => {
  const text = `cwlVersion: v1.2
class: ExpressionTool
requirements: {InlineJavascriptRequirement: {expressionLib: ["function twice(x) { return 2 * x }"]}}
inputs: {f: File}
outputs: {n: int, l: File}
expression: "\${ return {n: twice(inputs.f.size), l: {class: 'File', basename: 'x.txt', contents: 'made'}} }"
`
  const outcome = await run(text, { f: { class: 'File', location: 'file:///home/f.txt' } }, noCommand)
  expect(outcome).toMatchObject({ kind: 'done', outputs: { n: 10, l: { contents: 'made', size: 4 } } })
})

test('independent commands run at the same time', async () => {
  const tool = '{class: CommandLineTool, inputs: {i: int}, outputs: {o: int}}'
  const text = `cwlVersion: v1.2
class: Workflow
requirements: {MultipleInputFeatureRequirement: {}}
inputs: {x: int}
outputs: {r: {type: "int[]", outputSource: [a/o, b/o]}}
steps: {a: {run: ${tool}, in: {i: x}, out: [o]}, b: {run: ${tool}, in: {i: x}, out: [o]}}
`
  const both = Promise.withResolvers<void>()
  let started = 0
  const outcome = await run(text, { x: 1 }, async ({ path }) => {
    started += 1
    if (started === 2) both.resolve()
    await both.promise
    return { o: path === 'a' ? 1 : 2 }
  })
  expect(outcome).toEqual({ kind: 'done', outputs: { r: [1, 2] } })
})

test('when one command fails, the run fails and aborts the other commands', async () => {
  const tool = '{class: CommandLineTool, inputs: {i: int}, outputs: {o: int}}'
  const text = `cwlVersion: v1.2
class: Workflow
inputs: {x: int}
outputs: []
steps: {a: {run: ${tool}, in: {i: x}, out: [o]}, b: {run: ${tool}, in: {i: x}, out: [o]}}
`
  let wasAborted = false
  const outcome = await run(text, { x: 1 }, ({ path, signal }) => {
    if (path === 'b') return Promise.reject(invalid('exit code 1'))
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        wasAborted = true
        resolve({ o: 1 })
      })
    })
  })
  expect(outcome).toEqual({ kind: 'failed', path: 'b', why: 'exit code 1' })
  expect(wasAborted).toBe(true)
})

test('an Operation is unsupported', async () => {
  const text = 'cwlVersion: v1.2\nclass: Operation\ninputs: []\noutputs: []\n'
  expect(await run(text, {}, noCommand)).toMatchObject({ kind: 'failed', unsupported: true })
})

test('invalid inputs fail the run before a command starts', async () => {
  const text = 'cwlVersion: v1.2\nclass: CommandLineTool\ninputs: {n: int}\noutputs: []\n'
  expect(await run(text, { n: 'x' }, noCommand)).toMatchObject({
    kind: 'failed',
    why: 'the input n must be int, not "x"',
  })
})

test('an input object has absolute locations, its own requirements, and expanded formats', async () => {
  const fetch = fetchFrom({
    'jobs/job.yml':
      'f: {class: File, path: "item #1.txt", format: "e:one"}\n$namespaces: {e: "http://e/"}\ncwl:requirements: {EnvVarRequirement: {envDef: {A: b}}}\ncwl:tool: ../tool.cwl\n',
  })
  const object = await readInputObject(`${HOME}jobs/job.yml`, fetch)
  expect(object).toMatchObject({
    tool: `${HOME}tool.cwl`,
    requirements: [{ class: 'EnvVarRequirement', envDef: [{ envName: 'A' }] }],
  })
  expect(expandFormats(object.inputs, object.namespaces)).toEqual({
    f: { class: 'File', location: `${HOME}jobs/item%20%231.txt`, format: 'http://e/one' },
  })
  const tool = await loadText(
    'cwlVersion: v1.2\nclass: CommandLineTool\ninputs: []\noutputs: []\nrequirements: {EnvVarRequirement: {envDef: {A: own}}}\n',
  )
  expect(withCallerRequirements(tool, object.requirements).requirements).toMatchObject([
    { envDef: [{ envValue: 'b' }] },
  ])
})

test('resume continues from the recorded state, and runs no finished step again', async () => {
  const tool = '{class: CommandLineTool, inputs: {i: int}, outputs: {o: int}}'
  const graph = await loadText(`cwlVersion: v1.2
class: Workflow
inputs: {x: int}
outputs: {r: {type: int, outputSource: b/o}}
steps: {a: {run: ${tool}, in: {i: x}, out: [o]}, b: {run: ${tool}, in: {i: a/o}, out: [o]}}
`)
  const ran: string[] = []
  const files = memoryFiles({})
  const runCommand = async ({ path, inputs }: CommandCall): Promise<ValueRecord> => {
    ran.push(path)
    return { o: Number(inputs.i) + 1 }
  }
  const noted: string[] = []
  await drive(
    graph,
    { x: 1 },
    { expressions, files, runCommand, note: (_, state) => noted.push(JSON.stringify(state)) },
  )
  expect(ran.splice(0)).toEqual(['a', 'b'])
  if (graph.class !== 'Workflow') throw new Error('not a workflow')
  const afterA = noted.find((one) => one.includes('"a":{"phase":"done"'))
  const outcome = await resume(graph, JSON.parse(afterA ?? '') as RunState, { expressions, files, runCommand })
  expect(outcome).toEqual({ kind: 'done', outputs: { r: 3 } })
  expect(ran).toEqual(['b'])
})

test('each piece of work has one answer: its evaluation or its failure', async () => {
  const graph = await loadText(`cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {x: Any}
outputs: []
steps: {s: {run: {class: ExpressionTool, inputs: {i: int}, outputs: {o: int}, expression: "$(null)"}, scatter: i, in: {i: x}, out: [o]}}
`)
  if (graph.class !== 'Workflow') throw new Error('not a workflow')
  const answering = { expressions, files: memoryFiles({}), runCommand: noCommand, signal: new AbortController().signal }
  const answers = await Promise.all(
    [[1, 2], 3].flatMap((x) => begin(graph, { x }).work).map((work) => answerWork(work, answering)),
  )
  expect(answers).toEqual([
    { kind: 'evaluated', path: 's', shape: [2], turns: [{ i: 1 }, { i: 2 }] },
    { kind: 'failed', path: 's', why: 'the step s scatters over i, which must be a list, not 3' },
  ])
})
