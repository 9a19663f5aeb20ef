import { describe, expect, test } from 'vitest'
import { loadTool, memoryFiles } from '../documents.fixture.ts'
import { evaluatorFor } from '../expressions/evaluate.ts'
import { NO_SCOPE, scopeOf } from '../process/requirement.ts'
import type { ValueRecord } from '../values/value.ts'
import { collectToolOutputs } from './collect.ts'
import { glob, patternOf } from './glob.ts'
import { toolCommand } from './tool-command.ts'

const made = {
  '/o/a.txt': 'aaa',
  '/o/b.txt': 'b',
  '/o/.hidden': '',
  '/o/sub/c.txt': 'c',
  '/o/a.txt.idx': 'i',
  '/d/in.txt': 'input',
  '/secret': '',
}

async function collect(outputs: string, contents: Readonly<Record<string, string>> = made, inputs: ValueRecord = {}) {
  const tool = await loadTool(
    `cwlVersion: v1.2\nclass: CommandLineTool\ninputs: {x: "File?"}\noutputs: {o: ${outputs}}\n$namespaces: {e: "http://e/"}\n`,
  )
  const scope = scopeOf(NO_SCOPE, tool)
  const refusing = {
    run: () => {
      throw new Error('no JavaScript was needed')
    },
  }
  const evaluator = evaluatorFor(refusing, scope, tool.version)
  const command = await toolCommand({
    tool,
    scope,
    inputs,
    room: { outdir: '/room', tmpdir: '/tmp', inputsDir: '/in' },
    evaluator,
  })
  const { o } = await collectToolOutputs({
    tool,
    scope,
    command,
    exitCode: 7,
    evaluator,
    files: memoryFiles(contents),
    outdirLocation: 'file:///o',
    outputJsonBytes: 1000,
  })
  return o
}

describe('outputs', () => {
  test('a file by glob has a location outside the room and no path', async () => {
    expect(await collect('{type: File, outputBinding: {glob: a.txt}}')).toEqual({
      class: 'File',
      location: 'file:///o/a.txt',
      basename: 'a.txt',
      nameroot: 'a',
      nameext: '.txt',
      size: 3,
    })
  })

  test.each([
    ['"*.txt"', ['a.txt', 'b.txt']],
    ['[b.txt, a.txt]', ['b.txt', 'a.txt']],
    ['/room/sub/*', ['c.txt']],
    ['"[ab].t?t"', ['a.txt', 'b.txt']],
    ['"nothing*"', []],
  ])('the glob %s matches its files', async (pattern, names) => {
    const found = await collect(`{type: "File[]", outputBinding: {glob: ${pattern}}}`)
    expect((found as ValueRecord[]).map((one) => one.basename)).toEqual(names)
  })

  test('a missing output is null where its type allows it, and fails otherwise', async () => {
    expect(await collect('{type: "File?", outputBinding: {glob: gone}}')).toBeNull()
    await expect(collect('{type: File, outputBinding: {glob: gone}}')).rejects.toThrow(
      'the output o is missing: nothing matches gone',
    )
  })

  test('two matches for one File fail', async () => {
    await expect(collect('{type: File, outputBinding: {glob: "*.txt"}}')).rejects.toThrow('2 match *.txt')
  })

  test.each(['/etc/passwd', '../secret', 'sub/../../secret', '/room/../secret'])(
    'the glob %s outside the working directory is refused',
    async (pattern) => {
      await expect(collect(`{type: File, outputBinding: {glob: ${pattern}}}`)).rejects.toThrow(/out of|outside/)
    },
  )

  test('an output of another type is refused', async () => {
    await expect(collect('{type: "File[]", outputBinding: {glob: "*"}}')).rejects.toThrow(/must be File\[\]/)
    await expect(collect('{type: string, outputBinding: {outputEval: $(runtime.exitCode)}}')).rejects.toThrow(
      /must be string, not 7/,
    )
  })

  test('an output may be computed from contents and from the exit code', async () => {
    expect(
      await collect(
        '{type: string, outputBinding: {glob: a.txt, loadContents: true, outputEval: "$(self[0].contents)!"}}',
      ),
    ).toBe('aaa!')
    expect(await collect('{type: int, outputBinding: {outputEval: $(runtime.exitCode)}}')).toBe(7)
  })

  test('an output has its secondary files and its format', async () => {
    expect(
      await collect('{type: File, format: e:txt, secondaryFiles: [.idx, .none?], outputBinding: {glob: a.txt}}'),
    ).toMatchObject({
      format: 'http://e/txt',
      secondaryFiles: [{ location: 'file:///o/a.txt.idx' }],
    })
  })

  test('a record output is collected field by field', async () => {
    const type =
      '{type: {type: record, fields: {f: {type: File, outputBinding: {glob: b.txt}}, n: {type: int, outputBinding: {outputEval: $(runtime.exitCode)}}}}}'
    expect(await collect(type)).toMatchObject({ f: { basename: 'b.txt' }, n: 7 })
  })

  test('an output may be a directory with its listing', async () => {
    expect(await collect('{type: Directory, outputBinding: {glob: sub, loadListing: deep_listing}}')).toMatchObject({
      class: 'Directory',
      location: 'file:///o/sub',
      listing: [{ basename: 'c.txt' }],
    })
  })
})

describe('cwl.output.json', () => {
  const withResult = (value: unknown) => ({ ...made, '/o/cwl.output.json': JSON.stringify({ o: value }) })
  const input = { x: { class: 'File', location: 'file:///d/in.txt', basename: 'in.txt' } }

  test('a file may be named by a relative or an absolute path', async () => {
    for (const path of ['sub/c.txt', '/room/sub/c.txt']) {
      expect(await collect('File', withResult({ class: 'File', path }))).toMatchObject({
        location: 'file:///o/sub/c.txt',
        size: 1,
      })
    }
    expect(await collect('File', withResult({ class: 'File', location: 'a.txt' }))).toMatchObject({
      location: 'file:///o/a.txt',
    })
  })

  test('a stated size is replaced by the real one, and a directory is no File', async () => {
    expect(await collect('File', withResult({ class: 'File', path: 'a.txt', size: 999 }))).toMatchObject({ size: 3 })
    await expect(collect('File', withResult({ class: 'File', path: 'sub' }))).rejects.toThrow('sub is not a File')
  })

  test('an output may be an input file', async () => {
    expect(await collect('File', withResult({ class: 'File', path: '/in/0/in.txt' }), input)).toMatchObject({
      location: 'file:///d/in.txt',
    })
  })

  test.each([
    { class: 'File', path: '/secret' },
    { class: 'File', path: '../secret' },
    { class: 'File', location: 'file:///secret' },
    { class: 'File', location: 'file:///o/../secret' },
    { class: 'File', location: 'file:///o/%2e%2e/secret' },
    { class: 'File', location: 'http://elsewhere/x' },
    { class: 'File', path: 'gone' },
  ])('%j is refused', async (value) => {
    await expect(collect('File', withResult(value), input)).rejects.toThrow(/outside|neither|not there/)
  })

  test('invalid JSON, a list and a file above outputJsonBytes are refused', async () => {
    await expect(collect('Any', { '/o/cwl.output.json': '{' })).rejects.toThrow(/is not JSON/)
    await expect(collect('Any', { '/o/cwl.output.json': '[]' })).rejects.toThrow(/must hold one object/)
    await expect(collect('Any', withResult('x'.repeat(1000)))).rejects.toThrow(
      /has 1008 bytes; the limit is 1000 \(cwl.max_json_bytes\)/,
    )
  })
})

test('a pattern of 200 stars is matched in bounded time', () => {
  expect(patternOf(`${'*'.repeat(200)}b`).test('a'.repeat(200))).toBe(false)
})

test('a name with a leading dot is matched only by a pattern with one', async () => {
  const files = memoryFiles(made)
  expect((await glob('*', 'file:///o', files)).map(({ path }) => path)).not.toContain('.hidden')
  expect((await glob('.h*', 'file:///o', files)).map(({ path }) => path)).toEqual(['.hidden'])
})
