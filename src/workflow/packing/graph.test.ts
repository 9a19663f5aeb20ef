import { expect, test } from 'vitest'
import { loadProcess } from '../loading/load.ts'
import { graphText } from './graph.ts'

const tool = { class: 'CommandLineTool', inputs: { x: 'string' }, outputs: { y: 'string' } }

const load = (document: object) =>
  loadProcess('file:///flow.cwl', async () => JSON.stringify({ cwlVersion: 'v1.2', ...document }))

test('the graph shows the data flow, also through nested workflows', async () => {
  const inner = {
    class: 'Workflow',
    inputs: { x: 'string' },
    outputs: { y: { type: 'string', outputSource: 'deep/y' } },
    steps: { deep: { run: tool, in: { x: 'x' }, out: ['y'] } },
  }
  const text = graphText(
    await load({
      class: 'Workflow',
      requirements: { ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {} },
      inputs: { words: 'string[]' },
      outputs: { all: { type: 'string[]', outputSource: 'each/y' } },
      steps: { each: { run: inner, scatter: 'x', in: { x: 'words' }, out: ['y'] } },
    }),
  )
  expect(text).toContain(String.raw`"step:each" [label = "each\nscatter x", shape = box]`)
  expect(text).toContain('"in:words" -> "step:each" [label = "x"]')
  expect(text).toContain('"each/in:x" -> "each/step:deep" [label = "x"]')
  expect(text).toContain('"step:each" -> "out:all"')
  expect(text.split('{').length).toBe(text.split('}').length)
})

test('quotes and backslashes in a label are escaped', async () => {
  const text = graphText(await load({ ...tool, label: 'say "hi" \\' }))
  expect(text).toContain(String.raw`[label = "say \"hi\" \\", shape = box]`)
})
