import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A workload: a process, its input object, and the number of its outputs. */
export interface Workload {
  readonly name: string
  readonly words: readonly string[]
  /** The number of steps, to compute the cost of one. */
  readonly steps: number
}

/** Reuse is off: otherwise a chain of the same command over the same bytes would run once. */
const tool = (more: object): object => ({
  cwlVersion: 'v1.2',
  class: 'CommandLineTool',
  requirements: { WorkReuse: { enableReuse: false } },
  ...more,
})

const ECHO = tool({
  baseCommand: 'echo',
  inputs: { word: { type: 'string', inputBinding: {} } },
  outputs: { out: 'stdout' },
  stdout: '$(inputs.word).txt',
})
const CAT = tool({
  baseCommand: 'cat',
  inputs: { file: { type: 'File', inputBinding: {} } },
  outputs: { out: 'stdout' },
  stdout: 'out.txt',
})
const SUM = {
  cwlVersion: 'v1.2',
  class: 'ExpressionTool',
  requirements: { InlineJavascriptRequirement: {} },
  inputs: { word: 'string' },
  outputs: { out: 'string' },
  expression: `\${ return { out: inputs.word + '!' } }`,
}

const scatter = (run: string, type: string): object => ({
  cwlVersion: 'v1.2',
  class: 'Workflow',
  requirements: { ScatterFeatureRequirement: {} },
  inputs: { words: 'string[]' },
  outputs: { all: { type, outputSource: 'each/out' } },
  steps: { each: { run, scatter: 'word', in: { word: 'words' }, out: ['out'] } },
})

function chain(length: number): object {
  const steps = Array.from({ length }, (_, at) => {
    const source = at === 0 ? 'file' : `step${at - 1}/out`
    return [`step${at}`, { run: 'cat.cwl', in: { file: source }, out: ['out'] }]
  })
  return {
    cwlVersion: 'v1.2',
    class: 'Workflow',
    inputs: { file: 'File' },
    outputs: { out: { type: 'File', outputSource: `step${length - 1}/out` } },
    steps: Object.fromEntries(steps),
  }
}

/** Writes the documents into a folder. */
export function workloadsIn(folder: string): readonly Workload[] {
  const write = (name: string, value: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(value))
    return join(folder, name)
  }
  const words = (count: number): string =>
    write(`words-${count}.json`, { words: Array.from({ length: count }, (_, at) => `word-${at}`) })
  const echo = write('echo.cwl', ECHO)
  write('cat.cwl', CAT)
  write('sum.cwl', SUM)
  const wide = write('wide.cwl', scatter('echo.cwl', 'File[]'))
  const job = write('file.json', { file: { class: 'File', location: 'file.json' } })
  return [
    { name: 'one echo', words: [echo, write('word.json', { word: 'one' })], steps: 1 },
    { name: 'a chain of 20 cat', words: [write('chain.cwl', chain(20)), job], steps: 20 },
    { name: 'a scatter of 100 echo', words: [wide, words(100)], steps: 100 },
    { name: 'a scatter of 1000 echo', words: [wide, words(1000)], steps: 1000 },
    { name: 'a scatter of 10000 echo', words: [wide, words(10_000)], steps: 10_000 },
    {
      name: 'a scatter of 100 expressions',
      words: [write('sums.cwl', scatter('sum.cwl', 'string[]')), words(100)],
      steps: 100,
    },
  ]
}
