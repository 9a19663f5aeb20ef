import { expect, test } from 'vitest'
import { load, loadText } from '../documents.fixture.ts'
import { comparable } from './comparable.fixture.ts'
import { packProcess } from './pack.ts'

const documents = {
  'main.cwl': `cwlVersion: v1.2
class: Workflow
$namespaces: {e: "http://e/"}
$schemas: [e.owl]
requirements:
  ScatterFeatureRequirement: {}
  MultipleInputFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  SchemaDefRequirement: {types: [{name: Pair, type: record, fields: {a: int, b: {type: File, secondaryFiles: [.x?]}}}]}
hints: {gowe:Execution: {worker_group: big}}
inputs:
  x: {type: "Pair[]", default: [{a: 1, b: {class: File, location: near.txt}}]}
  y: {type: File, format: e:one, secondaryFiles: [.bai, {pattern: ^.idx, required: $(inputs.x)}], loadListing: deep_listing}
outputs: {r: {type: Any, outputSource: [s/o, t/o], linkMerge: merge_flattened, pickValue: all_non_null}}
steps:
  s: {run: sub/tool.cwl, scatter: [i, j], scatterMethod: flat_crossproduct, when: $(inputs.go), in: {i: x, j: {source: x, valueFrom: $(self.a)}, go: {default: true}}, out: [o]}
  t: {run: sub/old.cwl, label: old, in: {f: {source: y, loadContents: true}}, out: [{id: o}], hints: {WorkReuse: {enableReuse: false}}}
`,
  'sub/tool.cwl': `cwlVersion: v1.2
class: CommandLineTool
inputs: {i: {type: Any, inputBinding: {prefix: -i, separate: false, position: $(self.p)}}, j: {type: [int, {type: enum, symbols: [p, q]}]}}
outputs: {o: stdout}
baseCommand: [a, b]
arguments: [plain, {valueFrom: $(inputs.j), shellQuote: false}]
successCodes: [0, 3]
requirements: {InitialWorkDirRequirement: {listing: [{class: File, location: beside.txt}, {entryname: n, entry: "$(inputs.i)"}]}}
`,
  'sub/old.cwl': `cwlVersion: v1.0
class: CommandLineTool
inputs: {f: {type: File, secondaryFiles: [.bai], inputBinding: {loadContents: true}}}
outputs: {o: {type: File, outputBinding: {glob: [a, b], loadContents: true, outputEval: "$(self)"}}}
`,
}

test('a packed workflow loads as an equal workflow', async () => {
  const process = await load(documents)
  const packed = packProcess(process)
  expect(comparable(await loadText(JSON.stringify(packed)))).toEqual(comparable(process))
})

test('a packed workflow refers to no other document', async () => {
  const packed = JSON.stringify(packProcess(await load(documents)))
  expect(packed).toContain('file:///home/near.txt')
  expect(packed).toContain('file:///home/sub/beside.txt')
  expect(packed).not.toMatch(/\$import|\$include|"run":"|SchemaDefRequirement/)
})

test('a cwltool:Loop is packed as a CWL v1.3 loop', async () => {
  const process = await loadText(`cwlVersion: v1.2
class: Workflow
inputs: {x: int}
outputs: []
steps:
  l:
    run: {class: ExpressionTool, inputs: {i: int}, outputs: {o: int}, expression: "$(null)"}
    requirements: {cwltool:Loop: {loopWhen: $(inputs.i), loop: {i: o}, outputMethod: last}}
    in: {i: x}
    out: [o]
`)
  const again = await loadText(JSON.stringify(packProcess(process)))
  expect(again).toMatchObject({ version: 13, steps: [{ loop: [{ name: 'i', sources: ['o'] }], run: { version: 12 } }] })
})

test('a CWL v1.3 loop loads equal after packing', async () => {
  const process = await loadText(`cwlVersion: v1.3.0-dev1
class: Workflow
inputs: {x: int}
outputs: []
steps: {l: {run: {class: ExpressionTool, inputs: {i: int}, outputs: {o: int}, expression: "$(null)"}, in: {i: x}, when: $(inputs.i), loop: {i: o}, outputMethod: all_iterations, out: [o]}}
`)
  expect(comparable(await loadText(JSON.stringify(packProcess(process))))).toEqual(comparable(process))
})
