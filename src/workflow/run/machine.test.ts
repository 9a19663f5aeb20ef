import { describe, expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { loadWorkflow, memoryFiles } from '../documents.fixture.ts'
import type { Workflow } from '../process/process.ts'
import type { Value, ValueRecord } from '../values/value.ts'
import { evaluateStep } from './evaluate-step.ts'
import { apply, begin, outstanding } from './machine.ts'
import type { RunState, RunWork } from './state.ts'

const TOOL = '{class: CommandLineTool, inputs: {i: Any}, outputs: {o: Any}}'
const FEATURES =
  'requirements: {ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {}, MultipleInputFeatureRequirement: {}, StepInputExpressionRequirement: {}}'

const workflow = (body: string): Promise<Workflow> =>
  loadWorkflow(`cwlVersion: v1.3\nclass: Workflow\n${FEATURES}\n${body}`)

const refusing = {
  run: () => {
    throw new Error('no JavaScript was needed')
  },
}

type Tool = (inputs: ValueRecord, path: string) => Value

/** Runs a workflow by hand: each tool returns what `tool` computes from its inputs and path. */
const play = (graph: Workflow, inputs: ValueRecord, tool: Tool) => playing({ graph, inputs, tool, restart: false })

interface Playing {
  readonly graph: Workflow
  readonly inputs: ValueRecord
  readonly tool: Tool
  /** Serialises the state and parses it again after each event. */
  readonly restart: boolean
}

async function playing({ graph, inputs, tool, restart }: Playing) {
  const ran: string[] = []
  let { state, work } = begin(graph, inputs) as { state: RunState; work: readonly RunWork[] }
  const open: RunWork[] = [...work]
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const event =
      next.kind === 'evaluate'
        ? await evaluateStep(next, { expressions: refusing, files: memoryFiles({}) })
        : { kind: 'finished' as const, path: next.path, outputs: { o: tool(next.inputs, next.path) } }
    if (next.kind === 'run') ran.push(next.path)
    ;({ state, work } = apply(graph, state, event))
    open.push(...work)
    if (restart) {
      state = JSON.parse(JSON.stringify(state)) as RunState
      open.splice(0, open.length, ...outstanding(graph, state))
    }
  }
  return { outcome: state.outcome, ran }
}

const chain = `inputs: {x: int}
outputs: {r: {type: Any, outputSource: b/o}}
steps:
  b: {run: ${TOOL}, in: {i: a/o}, out: [o]}
  a: {run: ${TOOL}, in: {i: x}, out: [o]}
`

test('a step starts when all its sources have values', async () => {
  const { outcome, ran } = await play(await workflow(chain), { x: 1 }, ({ i }) => Number(i) + 1)
  expect(ran).toEqual(['a', 'b'])
  expect(outcome).toEqual({ kind: 'done', outputs: { r: 3 } })
})

test('a workflow without steps is done at once', async () => {
  const graph = await workflow('inputs: {x: int}\noutputs: {r: {type: int, outputSource: x}}\nsteps: []\n')
  expect(begin(graph, { x: 5 }).state.outcome).toEqual({ kind: 'done', outputs: { r: 5 } })
})

test('the first failure ends the run, and later events change nothing', async () => {
  const graph = await workflow(chain)
  const { state } = begin(graph, { x: 1 })
  apply(graph, state, { kind: 'evaluated', path: 'a', turns: [{ i: 1 }] })
  apply(graph, state, { kind: 'failed', path: 'a', why: 'exit code 1' })
  expect(apply(graph, state, { kind: 'finished', path: 'a', outputs: { o: 1 } }).work).toEqual([])
  expect(state.outcome).toEqual({ kind: 'failed', path: 'a', why: 'exit code 1' })
  expect(outstanding(graph, state)).toEqual([])
})

test('a repeated event, and an event for an unknown path, are ignored', async () => {
  const graph = await workflow(chain)
  const { state } = begin(graph, { x: 1 })
  apply(graph, state, { kind: 'evaluated', path: 'a', turns: [{ i: 1 }] })
  expect(apply(graph, state, { kind: 'evaluated', path: 'a', turns: [{ i: 9 }] }).work).toEqual([])
  expect(apply(graph, state, { kind: 'finished', path: 'a', outputs: { o: 2 } }).work).toHaveLength(1)
  for (const path of ['a', 'b[7]', 'b/c', 'nope', '', '__proto__', 'a@3']) {
    expect(apply(graph, state, { kind: 'finished', path, outputs: { o: 7 } }).work, path).toEqual([])
  }
  expect(state.frame.steps.a).toEqual({ phase: 'done', outputs: { o: 2 } })
})

describe('scatter', () => {
  const scattered = (method: string, output = 's/o'): Promise<Workflow> =>
    workflow(`inputs: {x: "Any", y: "Any"}
outputs: {r: {type: Any, outputSource: ${output}}}
steps:
  s: {run: {class: CommandLineTool, inputs: {i: Any, j: Any}, outputs: {o: Any}}, in: {i: x, j: y}, scatter: [i, j], scatterMethod: ${method}, out: [o]}
`)
  const glue = ({ i, j }: ValueRecord): string => `${i}${j}`

  test.each<[string, ValueRecord, Value]>([
    ['dotproduct', { x: ['a', 'b'], y: [1, 2] }, ['a1', 'b2']],
    ['flat_crossproduct', { x: ['a', 'b'], y: [1, 2] }, ['a1', 'a2', 'b1', 'b2']],
    [
      'nested_crossproduct',
      { x: ['a', 'b'], y: [1, 2] },
      [
        ['a1', 'a2'],
        ['b1', 'b2'],
      ],
    ],
    ['dotproduct', { x: [], y: [] }, []],
    ['nested_crossproduct', { x: ['a', 'b'], y: [] }, [[], []]],
    ['nested_crossproduct', { x: [], y: [1] }, []],
    ['flat_crossproduct', { x: ['a'], y: [] }, []],
  ])('%s of %j is %j', async (method, inputs, r) => {
    const { outcome } = await play(await scattered(method), inputs, glue)
    expect(outcome).toEqual({ kind: 'done', outputs: { r } })
  })

  test('each turn has its number in its path', async () => {
    expect((await play(await scattered('dotproduct'), { x: ['a', 'b'], y: [1, 2] }, glue)).ran).toEqual([
      's[0]',
      's[1]',
    ])
  })

  test.each<[ValueRecord, RegExp]>([
    [{ x: ['a'], y: [1, 2] }, /pairs lists of different lengths: i has 1, j has 2/],
    [{ x: 'a', y: [1] }, /scatters over i, which must be a list, not "a"/],
  ])('dotproduct of %j fails', async (inputs, words) => {
    await expect(play(await scattered('dotproduct'), inputs, glue)).rejects.toThrow(words)
  })

  test('a scatter over 10,000 values keeps them all, in order', async () => {
    const x = Array.from({ length: 10_000 }, (_, at) => at)
    const { outcome } = await play(await scattered('dotproduct'), { x, y: x }, ({ i }) => i ?? null)
    expect(outcome).toEqual({ kind: 'done', outputs: { r: x } })
  })

  test('a scatter into 4,000,000 turns is refused', async () => {
    const x = Array.from({ length: 2000 }, () => 1)
    await expect(play(await scattered('flat_crossproduct'), { x, y: x }, glue)).rejects.toThrow(
      /would be 4000000 turns/,
    )
  })
})

describe('links', () => {
  const linked = (link: string): Promise<Workflow> =>
    workflow(
      `inputs: {x: Any?, y: Any?}\noutputs: {r: {type: Any, outputSource: s/o}}\nsteps: {s: {run: ${TOOL}, in: {i: ${link}}, out: [o]}}\n`,
    )

  test.each<[string, ValueRecord, Value]>([
    ['[x, y]', { x: 1, y: [2] }, [1, [2]]],
    ['{source: [x, y], linkMerge: merge_flattened}', { x: 1, y: [2, 3] }, [1, 2, 3]],
    ['{source: x, linkMerge: merge_nested}', { x: 1 }, [1]],
    ['{source: [x], linkMerge: merge_flattened}', { x: [1, 2] }, [1, 2]],
    ['{source: [x, y], pickValue: first_non_null}', { x: null, y: 2 }, 2],
    ['{source: [x, y], pickValue: the_only_non_null}', { x: null, y: 2 }, 2],
    ['{source: [x, y], pickValue: all_non_null}', { x: null, y: 2 }, [2]],
    ['{source: x, default: 9}', { x: null }, 9],
    ['{source: x, default: 9}', { x: false }, false],
    ['{source: x, valueFrom: "$(self) of $(inputs.i)"}', { x: 1 }, '1 of 1'],
  ])('the link %s with %j gives %j', async (link, inputs, r) => {
    const { outcome } = await play(await linked(link), inputs, ({ i }) => i ?? null)
    expect(outcome).toEqual({ kind: 'done', outputs: { r } })
  })

  test.each([
    ['first_non_null', { x: null, y: null }, /all sources of i of the step s are null/],
    ['the_only_non_null', { x: 1, y: 2 }, /2 sources of i of the step s are not null/],
  ])('pickValue %s of %j fails', async (pickValue, inputs, words) => {
    const { state } = begin(await linked(`{source: [x, y], pickValue: ${pickValue}}`), inputs)
    expect(state.outcome).toMatchObject({ kind: 'failed', why: expect.stringMatching(words) })
  })
})

test('a skipped step gives null', async () => {
  const graph = await workflow(
    `inputs: {x: boolean}\noutputs: {r: {type: Any, outputSource: s/o}}\nsteps: {s: {run: ${TOOL}, when: $(inputs.i), in: {i: x}, out: [o]}}\n`,
  )
  expect(await play(graph, { x: false }, () => 1)).toEqual({ outcome: { kind: 'done', outputs: { r: null } }, ran: [] })
  expect((await play(graph, { x: true }, () => 1)).outcome).toEqual({ kind: 'done', outputs: { r: 1 } })
})

const nested = `inputs: {x: "int[]"}
outputs: {r: {type: Any, outputSource: outer/o}}
steps:
  outer:
    scatter: i
    in: {i: x}
    out: [o]
    run:
      class: Workflow
      inputs: {i: int, more: {type: int, default: 10}}
      outputs: {o: {type: Any, outputSource: last/o}}
      steps:
        first: {run: ${TOOL}, in: {i: [i, more]}, out: [o]}
        last: {run: ${TOOL}, in: {i: first/o}, out: [o]}
`
const sum = ({ i }: ValueRecord): number => (Array.isArray(i) ? i.reduce((a, b) => a + b, 0) : Number(i) * 2)

test('a workflow inside a scatter has its own defaults and paths', async () => {
  const { outcome, ran } = await play(await workflow(nested), { x: [1, 2] }, sum)
  expect(outcome).toEqual({ kind: 'done', outputs: { r: [22, 24] } })
  expect(ran).toEqual(['outer[0]/first', 'outer[1]/first', 'outer[0]/last', 'outer[1]/last'])
})

const loop = (method: string): string => `inputs: {x: Any}
outputs: {r: {type: Any, outputSource: l/o}}
steps:
  l: {run: ${TOOL}, in: {i: x, go: {default: true}}, when: $(inputs.go), loop: {i: o, go: {outputSource: o, valueFrom: $(self.go)}}, outputMethod: ${method}, out: [o]}
`
const countTo =
  (end: number) =>
  ({ i }: ValueRecord) => ({ n: Number((i as ValueRecord).n) + 1, go: Number((i as ValueRecord).n) + 1 < end })

describe('loops', () => {
  test('a loop repeats while its condition holds, and gives the last iteration or all', async () => {
    const last = await play(await workflow(loop('last_iteration')), { x: { n: 0 } }, countTo(3))
    expect(last.outcome).toEqual({ kind: 'done', outputs: { r: { n: 3, go: false } } })
    expect(last.ran).toEqual(['l@0', 'l@1', 'l@2'])
    const all = await play(await workflow(loop('all_iterations')), { x: { n: 0 } }, countTo(2))
    expect(all.outcome).toMatchObject({ outputs: { r: [{ n: 1 }, { n: 2 }] } })
  })

  test('a loop may be written as cwltool:Loop, the extension before v1.3', async () => {
    const text = `cwlVersion: v1.2
class: Workflow
$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
requirements: {StepInputExpressionRequirement: {}}
inputs: {x: Any}
outputs: {r: {type: Any, outputSource: l/o}}
steps:
  l:
    run: ${TOOL}
    in: {i: x, go: {default: true}}
    requirements: {cwltool:Loop: {loopWhen: $(inputs.go), loop: {i: o, go: {loopSource: o, valueFrom: $(self.go)}}, outputMethod: all}}
    out: [o]
`
    const { outcome } = await play(await loadWorkflow(text), { x: { n: 0 } }, countTo(2))
    expect(outcome).toMatchObject({ kind: 'done', outputs: { r: [{ n: 1 }, { n: 2 }] } })
  })

  test('an event of an earlier iteration is ignored', async () => {
    const graph = await workflow(loop('last_iteration'))
    const { state } = begin(graph, { x: { n: 0 } })
    apply(graph, state, { kind: 'evaluated', path: 'l', turns: [{ i: { n: 0 } }] })
    apply(graph, state, { kind: 'finished', path: 'l@0', outputs: { o: { n: 1, go: true } } })
    apply(graph, state, { kind: 'evaluated', path: 'l', turns: [{ i: { n: 1 } }] })
    expect(apply(graph, state, { kind: 'finished', path: 'l@0', outputs: { o: { n: 9, go: false } } }).work).toEqual([])
    expect(outstanding(graph, state)).toMatchObject([{ kind: 'run', path: 'l@1' }])
  })
})

test.each<[string, string, { inputs: ValueRecord; tool: Tool }]>([
  ['a chain', chain, { inputs: { x: 1 }, tool: sum }],
  ['workflows within a scatter', nested, { inputs: { x: [1, 2, 3] }, tool: sum }],
  ['a loop', loop('all_iterations'), { inputs: { x: { n: 0 } }, tool: countTo(4) }],
])(
  '%s continues from its serialised state after each event, with an equal outcome',
  async (_, text, { inputs, tool }) => {
    const graph = await workflow(text)
    const without = await play(graph, inputs, tool)
    const restarted = await playing({ graph, inputs, tool, restart: true })
    expect(restarted.outcome).toEqual(without.outcome)
    expect(restarted.ran.toSorted()).toEqual(without.ran.toSorted())
  },
)

/** A workflow whose steps use outputs of earlier steps; some are scattered. */
function randomGraph(random: ReturnType<typeof randomFrom>): string {
  const steps = Array.from({ length: 2 + random.below(12) }, (_, at) => {
    const sources = ['x', ...Array.from({ length: at }, (_, before) => `s${before}/o`)].filter(() => random.chance(0.4))
    const from = sources.length === 0 ? ['x'] : sources
    const scatter = random.chance(0.3) ? 'scatter: i, ' : ''
    return `  s${at}: {run: ${TOOL}, ${scatter}in: {i: {source: [${from.join(', ')}], linkMerge: merge_flattened}}, out: [o]}`
  })
  return `inputs: {x: "int[]"}\noutputs: {r: {type: Any, outputSource: [${steps.map((_, at) => `s${at}/o`).join(', ')}]}}\nsteps:\n${steps.join('\n')}\n`
}

const seed = seedOfRun()
test(`the outcome does not depend on the order of the answers (seed ${seed})`, async () => {
  const random = randomFrom(seed)
  for (let round = 0; round < 20; round += 1) {
    const graph = await workflow(randomGraph(random))
    const total = ({ i }: ValueRecord): number => JSON.stringify(i).length
    const inOrder = await play(graph, { x: [1, 2, 3] }, total)
    const started = begin(graph, { x: [1, 2, 3] })
    const open = [...started.work]
    while (open.length > 0) {
      const [next] = open.splice(random.below(open.length), 1)
      if (next === undefined) break
      const event =
        next.kind === 'evaluate'
          ? await evaluateStep(next, { expressions: refusing, files: memoryFiles({}) })
          : { kind: 'finished' as const, path: next.path, outputs: { o: total(next.inputs) } }
      open.push(...apply(graph, started.state, event).work)
    }
    expect(started.state.outcome).toEqual(inOrder.outcome)
    expect(started.state.outcome?.kind).toBe('done')
  }
})
