import { expect, test } from 'vitest'
import { evaluatorFor } from '../expressions/evaluate.ts'
import { loadProcess } from '../loading/load.ts'
import { requestedOutputs } from './requested-outputs.ts'
import { toolCommand } from './tool-command.ts'

const room = { outdir: '/room/out', tmpdir: '/tmp', inputsDir: '/room/in' }
const EVERYTHING = { paths: [], globs: ['*', '.*'] }

async function requested(outputs: object, more: object = {}) {
  const document = { cwlVersion: 'v1.2', class: 'CommandLineTool', baseCommand: 'x', inputs: {}, outputs, ...more }
  const tool = await loadProcess('file:///tool.cwl', async () => JSON.stringify(document))
  if (tool.class !== 'CommandLineTool') throw new Error('no tool')
  const scope = { requirements: tool.requirements, hints: tool.hints }
  const expressions = { run: async () => 'by JavaScript' }
  const evaluator = evaluatorFor(expressions, scope, tool.version)
  return requestedOutputs(tool, await toolCommand({ tool, scope, inputs: { name: 'a' }, room, evaluator }), evaluator)
}

const file = (glob: string | string[], more: object = {}) => ({ type: 'File', outputBinding: { glob }, ...more })

test('the requested outputs are the paths and patterns of all outputs, and cwl.output.json', async () => {
  expect(await requested({ a: file('x.txt'), b: file('./d//y'), c: file('*.bam'), n: 'int?' })).toEqual({
    paths: ['cwl.output.json', 'x.txt'],
    globs: ['d/y', '*.bam'],
  })
  expect(await requested({ out: 'stdout' }, { stdout: 'said' })).toMatchObject({ paths: ['cwl.output.json', 'said'] })
  expect(await requested({ a: file('$(inputs.name)/$(runtime.cores)') })).toMatchObject({
    globs: ['a/1'],
  })
  expect(await requested({ a: file('/room/out/whole') })).toMatchObject({ paths: [expect.anything(), 'whole'] })
})

test('a pattern deep in a directory requests the directory, because its parents may be symlinks', async () => {
  expect(await requested({ a: file('d/e*/*.txt') })).toMatchObject({ globs: ['d/e*'] })
})

test('secondary files are requested where their names follow from the pattern', async () => {
  const beside = { secondaryFiles: ['.bai', '^.dict'] }
  expect(await requested({ a: file('d/x.bam', beside) })).toMatchObject({
    globs: ['d/x.bam', 'd/x.bam.bai', 'd/x.dict'],
  })
  expect(await requested({ a: file('*.bam', { secondaryFiles: '.bai' }) })).toMatchObject({
    globs: ['*.bam', '*.bam.bai'],
  })
  expect(await requested({ a: file('*.bam', { secondaryFiles: '^.bai' }) })).toEqual(EVERYTHING)
})

test('everything is requested when only the tool, or an expression evaluated after it, determines the files', async () => {
  expect(await requested({ a: 'File' })).toEqual(EVERYTHING)
  expect(await requested({ a: file('.') })).toEqual(EVERYTHING)
  expect(await requested({ a: file('$(runtime.exitCode).txt') })).toEqual(EVERYTHING)
  const made = { type: 'File', outputBinding: { glob: 'x', outputEval: '$(self[0])' } }
  expect(await requested({ a: made })).toEqual(EVERYTHING)
  expect(await requested({ a: { ...made, type: 'int' } })).toMatchObject({ globs: [] })
})
