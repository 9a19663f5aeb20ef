import { expect, test } from 'vitest'
import { evaluatorFor } from '../expressions/evaluate.ts'
import { loadProcess } from '../loading/load.ts'
import { toolCommand } from './tool-command.ts'
import { wantedOutputs } from './wanted-outputs.ts'

const room = { outdir: '/room/out', tmpdir: '/tmp', inputsDir: '/room/in' }
const EVERYTHING = { paths: [], globs: ['*', '.*'] }

async function wanted(outputs: object, more: object = {}) {
  const document = { cwlVersion: 'v1.2', class: 'CommandLineTool', baseCommand: 'x', inputs: {}, outputs, ...more }
  const tool = await loadProcess('file:///tool.cwl', async () => JSON.stringify(document))
  if (tool.class !== 'CommandLineTool') throw new Error('no tool')
  const scope = { requirements: tool.requirements, hints: tool.hints }
  const expressions = { run: async () => 'by JavaScript' }
  const evaluator = evaluatorFor(expressions, scope, tool.version)
  return wantedOutputs(tool, await toolCommand({ tool, scope, inputs: { name: 'a' }, room, evaluator }), evaluator)
}

const file = (glob: string | string[], more: object = {}) => ({ type: 'File', outputBinding: { glob }, ...more })

test('paths and patterns of the outputs, and always the file by which a tool may say it all itself', async () => {
  expect(await wanted({ a: file('x.txt'), b: file('./d//y'), c: file('*.bam'), n: 'int?' })).toEqual({
    paths: ['cwl.output.json', 'x.txt'],
    globs: ['d/y', '*.bam'],
  })
  expect(await wanted({ out: 'stdout' }, { stdout: 'said' })).toMatchObject({ paths: ['cwl.output.json', 'said'] })
  expect(await wanted({ a: file('$(inputs.name)/$(runtime.cores)') })).toMatchObject({
    globs: ['a/1'],
  })
  expect(await wanted({ a: file('/room/out/whole') })).toMatchObject({ paths: [expect.anything(), 'whole'] })
})

test('a pattern deep in a directory means the directory, for the way there may be a link', async () => {
  expect(await wanted({ a: file('d/e*/*.txt') })).toMatchObject({ globs: ['d/e*'] })
})

test('secondary files come along where their names follow from the pattern', async () => {
  const beside = { secondaryFiles: ['.bai', '^.dict'] }
  expect(await wanted({ a: file('d/x.bam', beside) })).toMatchObject({
    globs: ['d/x.bam', 'd/x.bam.bai', 'd/x.dict'],
  })
  expect(await wanted({ a: file('*.bam', { secondaryFiles: '.bai' }) })).toMatchObject({
    globs: ['*.bam', '*.bam.bai'],
  })
  expect(await wanted({ a: file('*.bam', { secondaryFiles: '^.bai' }) })).toEqual(EVERYTHING)
})

test('where only the tool, or an expression about its end, knows the files, everything is wanted', async () => {
  expect(await wanted({ a: 'File' })).toEqual(EVERYTHING)
  expect(await wanted({ a: file('.') })).toEqual(EVERYTHING)
  expect(await wanted({ a: file('$(runtime.exitCode).txt') })).toEqual(EVERYTHING)
  const made = { type: 'File', outputBinding: { glob: 'x', outputEval: '$(self[0])' } }
  expect(await wanted({ a: made })).toEqual(EVERYTHING)
  expect(await wanted({ a: { ...made, type: 'int' } })).toMatchObject({ globs: [] })
})
