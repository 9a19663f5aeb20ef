import { expect, test } from 'vitest'
import { load, loadText, loadTool, loadWorkflow } from '../documents.fixture.ts'

const TOOL = 'cwlVersion: v1.2\nclass: CommandLineTool\n'
const REST = 'outputs: []\nbaseCommand: "true"\n'

test('inputs may be a map of types, a map of records or a list, with equal results', async () => {
  const forms = ['inputs: {x: int}\n', 'inputs: {x: {type: int}}\n', 'inputs: [{id: x, type: int}]\n']
  for (const form of forms) {
    const { inputs } = await loadTool(TOOL + form + REST)
    expect(inputs).toMatchObject([{ name: 'x', type: { type: 'int' } }])
  }
})

test.each([
  ['string?', { type: 'union', of: [{ type: 'null' }, { type: 'string' }] }],
  ['File[]', { type: 'array', items: { type: 'File' } }],
  ['int[]?', { type: 'union', of: [{ type: 'null' }, { type: 'array', items: { type: 'int' } }] }],
  ['[int, string]', { type: 'union', of: [{ type: 'int' }, { type: 'string' }] }],
  ['{type: enum, symbols: [a, b]}', { type: 'enum', symbols: ['a', 'b'] }],
  ['{type: record, fields: {a: int, b: File}}', { type: 'record', fields: [{ name: 'a' }, { name: 'b' }] }],
])('the type %s is read', async (type, expected) => {
  const { inputs } = await loadTool(`${TOOL}inputs:\n  x:\n    type: ${type}\n${REST}`)
  expect(inputs[0]?.type).toMatchObject(expected)
})

test('secondary files may be short, optional, or written out', async () => {
  const tool = await loadTool(
    `${TOOL}inputs: {x: {type: File, secondaryFiles: [.bai, "^.idx?", {pattern: .c, required: false}]}}\n${REST}`,
  )
  expect(tool.inputs[0]?.secondaryFiles).toEqual([
    { pattern: '.bai' },
    { pattern: '^.idx', required: false },
    { pattern: '.c', required: false },
  ])
})

test('$import, $include and $mixin load other documents, with references relative to each document', async () => {
  const process = await load({
    'main.cwl': `${TOOL}$mixin: more.yml\ninputs: {$import: sub/inputs.yml}\ndoc: {$include: words.txt}\noutputs: []\n`,
    'more.yml': 'baseCommand: [echo, mixed]\n',
    'sub/inputs.yml': '- id: x\n  type: File\n  default: {class: File, location: beside.txt}\n',
    'words.txt': 'not: [yaml',
  })
  expect(process).toMatchObject({
    baseCommand: ['echo', 'mixed'],
    inputs: [{ name: 'x', default: { class: 'File', location: 'file:///home/sub/beside.txt' } }],
  })
})

test('a document that imports itself is refused', async () => {
  await expect(
    load({ 'main.cwl': `${TOOL}inputs: {$import: a.yml}\n${REST}`, 'a.yml': '- {$import: a.yml}\n' }),
  ).rejects.toThrow(/a.yml:1:3: this imports itself/)
})

test('a $graph without a fragment is its main process, and steps refer to the others', async () => {
  const graph = `cwlVersion: v1.2
$graph:
- id: tool
  class: CommandLineTool
  inputs: {i: string}
  outputs: {o: stdout}
  baseCommand: echo
- id: main
  class: Workflow
  inputs: {w: string}
  outputs: {r: {type: File, outputSource: "#main/s/o"}}
  steps: {s: {run: "#tool", in: {i: "#main/w"}, out: [o]}}
`
  const process = await load({ 'main.cwl': graph })
  expect(process).toMatchObject({
    class: 'Workflow',
    outputs: [{ sources: ['s/o'] }],
    steps: [
      { name: 's', inputs: [{ sources: ['w'] }], run: { class: 'CommandLineTool', id: 'file:///home/main.cwl#tool' } },
    ],
  })
  expect(await load({ 'main.cwl': graph }, 'main.cwl#tool')).toMatchObject({ class: 'CommandLineTool' })
})

test('types of SchemaDefRequirement are found by name, also in other documents', async () => {
  const process = await load({
    'main.cwl': `${TOOL}requirements: [{$import: types.yml}]\ninputs: {x: "types.yml#Pair", y: "types.yml#Pair[]"}\n${REST}`,
    'types.yml':
      'class: SchemaDefRequirement\ntypes:\n- {name: Pair, type: record, fields: {a: Word, b: int}}\n- {name: Word, type: enum, symbols: [p, q]}\n',
  })
  const pair = { type: 'record', fields: [{ type: { type: 'enum', symbols: ['p', 'q'] } }, { type: { type: 'int' } }] }
  expect(process.inputs).toMatchObject([{ type: pair }, { type: { type: 'array', items: pair } }])
})

test('the types stdin, stdout and stderr become bindings', async () => {
  const tool = await loadTool(
    `${TOOL}inputs: {in: stdin}\noutputs: {a: stdout, b: stderr}\nstderr: err.txt\nbaseCommand: cat\n`,
  )
  expect(tool.stdin).toBe('$(inputs["in"].path)')
  expect(tool.outputs).toMatchObject([{ binding: { glob: [tool.stdout] } }, { binding: { glob: ['err.txt'] } }])
})

test('a format with a known prefix becomes a full IRI', async () => {
  const tool = await loadTool(
    `${TOOL}$namespaces: {edam: "http://edamontology.org/"}\n$schemas: [edam.owl]\ninputs: {x: {type: File, format: edam:format_1}}\n${REST}`,
  )
  expect(tool.inputs[0]?.format).toEqual(['http://edamontology.org/format_1'])
  expect(tool.schemas).toEqual(['file:///home/edam.owl'])
})

test('fields with a prefix are ignored', async () => {
  await expect(loadText(`${TOOL}s:author: Ada\ninputs: []\n${REST}`)).resolves.toMatchObject({
    class: 'CommandLineTool',
  })
})

test.each([
  [
    'inputs: []\nbasecommand: x\noutputs: []\n',
    /:4:1: a CommandLineTool has no field basecommand; did you mean baseCommand\?/,
  ],
  ['outputs: []\n', /:1:1: a CommandLineTool needs the field inputs/],
  ['inputs: {x: strin}\noutputs: []\n', /:3:10: there is no type strin/],
  ['inputs: {x: {type: int, defualt: 1}}\noutputs: []\n', /:3:25: an input has no field defualt/],
  ['inputs: []\noutputs: []\nsuccessCodes: [a]\n', /successCodes of a CommandLineTool must be a whole number, not "a"/],
  ['inputs: []\noutputs: []\nrequirements: {Teleport: {}}\n', /Teleport is not one that Windlass knows/],
  ['inputs: []\noutputs: []\nrequirements: {ToolTimeLimit: {timelimit: -1}}\n', /must not be negative/],
  ['inputs: [{id: x, type: int}, {id: x, type: int}]\noutputs: []\n', /x is there twice/],
  [
    'inputs: {x: "#Loop"}\noutputs: []\nrequirements: {SchemaDefRequirement: {types: [{name: Loop, type: array, items: Loop}]}}\n',
    /contains itself/,
  ],
])('%j is refused, with its line and column', async (body, words) => {
  await expect(loadText(TOOL + body)).rejects.toThrow(words)
})

test('an unknown requirement is unsupported, and an unknown hint is ignored', async () => {
  await expect(loadText(`${TOOL}inputs: []\n${REST}hints: {Teleport: {}}\n`)).resolves.toBeDefined()
  await expect(loadText(`${TOOL}inputs: []\n${REST}requirements: {Teleport: {}}\n`)).rejects.toMatchObject({
    fault: { kind: 'invalid', why: 'unsupported' },
  })
})

test.each([
  ['v1.0', 'requirements: {NetworkAccess: {networkAccess: true}}', /NetworkAccess came with CWL v1.1/],
  [
    'v1.1',
    'requirements: {ResourceRequirement: {coresMin: 0.5}}',
    /0.5 as coresMin of ResourceRequirement came with CWL v1.2/,
  ],
  ['v1.1', 'intent: [x]', /the field intent of a CommandLineTool came with CWL v1.2/],
  ['v2.0', '', /does not know CWL v2.0/],
])('CWL %s refuses %j', async (version, line, words) => {
  const text = `cwlVersion: ${version}\nclass: CommandLineTool\ninputs: []\noutputs: []\n${line}\n`
  await expect(loadText(text)).rejects.toThrow(words)
})

test('a workflow may run tools of other versions', async () => {
  const process = await load({
    'main.cwl':
      'cwlVersion: v1.2\nclass: Workflow\ninputs: []\noutputs: []\nsteps: {s: {run: old.cwl, in: [], out: []}}\n',
    'old.cwl': 'cwlVersion: v1.0\nclass: CommandLineTool\ninputs: []\noutputs: []\nbaseCommand: "true"\n',
  })
  expect(process).toMatchObject({ version: 12, steps: [{ run: { version: 10 } }] })
})

test('a workflow that runs itself is refused', async () => {
  const text =
    'cwlVersion: v1.2\nclass: Workflow\ninputs: []\noutputs: []\nsteps: {s: {run: main.cwl, in: [], out: []}}\n'
  await expect(loadText(text)).rejects.toThrow(/this workflow runs itself/)
})

test('nested workflows with more than 10,000 processes are refused', async () => {
  const level = (next: string): string =>
    `cwlVersion: v1.2\nclass: Workflow\ninputs: []\noutputs: []\nsteps: {${Array.from({ length: 10 }, (_, at) => `s${at}: {run: ${next}, in: [], out: []}`).join(', ')}}\n`
  const documents = Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [at === 0 ? 'main.cwl' : `w${at}.cwl`, level(`w${at + 1}.cwl`)]),
  )
  await expect(load({ ...documents, 'w8.cwl': `${TOOL}inputs: []\n${REST}` })).rejects.toThrow(
    /more than 10000 processes/,
  )
})

test('an unknown outputSource is refused, with its line', async () => {
  const text =
    'cwlVersion: v1.2\nclass: Workflow\ninputs: []\noutputs: {o: {type: int, outputSource: nowhere/x}}\nsteps: []\n'
  await expect(loadWorkflow(text)).rejects.toThrow(/:4:\d+: nothing is called nowhere\/x/)
})

test('a document that cannot be fetched is refused with its location', async () => {
  await expect(load({}, 'gone.cwl')).rejects.toThrow('file:///home/gone.cwl cannot be read: no such file')
})
