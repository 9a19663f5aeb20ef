import { describe, expect, test } from 'vitest'
import { loadWorkflow } from '../documents.fixture.ts'
import { checkProcess } from './check.ts'
import { findRequirement, NO_SCOPE, scopeOf, within } from './requirement.ts'

interface Sketch {
  readonly input?: string
  readonly toolInput?: string
  readonly toolOutput?: string
  readonly step?: string
  readonly link?: string
  readonly output?: string
  readonly requirements?: string
}

/** A workflow of one step, with one detail changed. */
async function check(sketch: Sketch): Promise<void> {
  const {
    input = 'int',
    toolInput = 'int',
    toolOutput = 'int',
    step = '',
    link = 'x',
    output = '{type: Any, outputSource: s/o}',
    requirements = '',
  } = sketch
  const workflow = await loadWorkflow(`cwlVersion: v1.3
class: Workflow
requirements: [${requirements}]
inputs: {x: {type: ${input}}, y: {type: ${input}}}
outputs: {r: ${output}}
steps:
  s:
    ${step}
    run: {class: ExpressionTool, inputs: {i: {type: ${toolInput}}}, outputs: {o: {type: ${toolOutput}}}, expression: "$(null)"}
    in: {i: ${link}}
    out: [o]
`)
  checkProcess(workflow)
}

describe('links', () => {
  test.each<Sketch>([
    { input: 'int', toolInput: 'long' },
    { input: 'int', toolInput: 'double' },
    { input: 'int?', toolInput: 'int' },
    { input: 'Any', toolInput: 'File' },
    { input: '[int, string]', toolInput: 'string' },
    { input: 'string', toolInput: '{type: enum, symbols: [a]}' },
    { input: '{type: record, fields: {a: int, b: int}}', toolInput: '{type: record, fields: {a: int}}' },
    { input: '"int[]"', toolInput: 'int', step: 'scatter: i', requirements: 'class: ScatterFeatureRequirement' },
    {
      input: 'File',
      toolInput: 'int',
      link: '{source: x, valueFrom: $(self.size)}',
      requirements: 'class: StepInputExpressionRequirement',
    },
    { input: 'int', toolInput: '"int[]"', link: '[x, y]', requirements: 'class: MultipleInputFeatureRequirement' },
    {
      input: '"int[]"',
      toolInput: '"int[]"',
      link: '{source: [x, y], linkMerge: merge_flattened}',
      requirements: 'class: MultipleInputFeatureRequirement',
    },
    {
      input: 'int?',
      toolInput: 'int',
      link: '{source: [x, y], pickValue: first_non_null}',
      requirements: 'class: MultipleInputFeatureRequirement',
    },
    { step: 'when: $(inputs.i)', output: '{type: "int?", outputSource: s/o}' },
    { toolInput: 'int?', link: '{default: 3}' },
  ])('%j fits', async (sketch) => {
    await expect(check(sketch)).resolves.toBeUndefined()
  })

  test.each<[Sketch, RegExp]>([
    [{ input: 'string', toolInput: 'int' }, /:10:10: i of the step s takes int, but x gives string/],
    [{ input: 'File', toolInput: 'Directory' }, /takes Directory, but x gives File/],
    [{ input: '"int[]"', toolInput: 'int' }, /takes int, but x gives int\[\]/],
    [
      { input: 'int', toolInput: 'int', step: 'scatter: i', requirements: 'class: ScatterFeatureRequirement' },
      /takes int\[\], but x gives int/,
    ],
    [{ input: '{type: record, fields: {b: int}}', toolInput: '{type: record, fields: {a: int}}' }, /takes record/],
    [{ input: '{type: enum, symbols: [a]}', toolInput: '{type: enum, symbols: [b]}' }, /takes enum\(b\)/],
    [{ link: '[x, y]', requirements: 'class: MultipleInputFeatureRequirement' }, /takes int, but x and y gives/],
    [{ output: '{type: string, outputSource: s/o}' }, /the output r takes string, but s\/o gives int/],
    [{ link: '{label: none}' }, /the step s must give i/],
    [
      { step: 'scatter: nope', requirements: 'class: ScatterFeatureRequirement' },
      /scatters over nope, which is not among its inputs/,
    ],
  ])('%j does not fit', async (sketch, words) => {
    await expect(check(sketch)).rejects.toThrow(words)
  })
})

describe('required features', () => {
  test.each<[Sketch, string]>([
    [{ input: '"int[]"', step: 'scatter: i' }, 'ScatterFeatureRequirement'],
    [{ toolInput: '"int[]"', link: '[x, y]' }, 'MultipleInputFeatureRequirement'],
    [{ link: '{source: x, valueFrom: $(self)}' }, 'StepInputExpressionRequirement'],
  ])('%j needs %s', async (sketch, name) => {
    await expect(check(sketch)).rejects.toThrow(`this needs ${name}`)
  })
})

test('steps that depend on each other in a cycle are refused', async () => {
  const step = (name: string, from: string): string =>
    `${name}: {run: {class: ExpressionTool, inputs: {i: int}, outputs: {o: int}, expression: "$(null)"}, in: {i: ${from}/o}, out: [o]}`
  const workflow = await loadWorkflow(
    `cwlVersion: v1.2\nclass: Workflow\ninputs: []\noutputs: []\nsteps: {${step('a', 'b')}, ${step('b', 'a')}}\n`,
  )
  expect(() => checkProcess(workflow)).toThrow(/these steps wait for each other: a, b/)
})

test('the nearest requirement applies, and any requirement takes precedence over a hint', () => {
  const outer = {
    requirements: [{ class: 'EnvVarRequirement', from: 'outer' }],
    hints: [{ class: 'WorkReuse', from: 'outer' }],
  }
  const inner = {
    requirements: [{ class: 'EnvVarRequirement', from: 'inner' }],
    hints: [{ class: 'WorkReuse', from: 'inner' }],
  }
  const both = within(outer, inner)
  expect(findRequirement(both, 'EnvVarRequirement')?.from).toBe('inner')
  expect(findRequirement(both, 'WorkReuse')?.from).toBe('inner')
  const hinted = within(outer, { requirements: [], hints: [{ class: 'EnvVarRequirement', from: 'hint' }] })
  expect(findRequirement(hinted, 'EnvVarRequirement')?.from).toBe('outer')
})

test('the implicit requirements of v1.0 apply only to v1.0 tools', async () => {
  const workflow = await loadWorkflow(`cwlVersion: v1.0
class: Workflow
inputs: []
outputs: []
steps:
  old: {run: {class: CommandLineTool, inputs: [], outputs: []}, in: [], out: []}
  new: {run: {cwlVersion: v1.2, class: CommandLineTool, inputs: [], outputs: []}, in: [], out: []}
`)
  const [old, fresh] = workflow.steps.map(({ run }) => scopeOf(within(NO_SCOPE, workflow), run))
  expect(old && findRequirement(old, 'NetworkAccess')).toMatchObject({ networkAccess: true })
  expect(fresh && findRequirement(fresh, 'NetworkAccess')).toBeUndefined()
})
