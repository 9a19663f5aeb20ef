import { describe, expect, test } from 'vitest'
import { loadTool, memoryFiles } from '../documents.fixture.ts'
import { evaluatorFor } from '../expressions/evaluate.ts'
import { NO_SCOPE, scopeOf } from '../process/requirement.ts'
import { ontologyOf } from '../values/ontology.ts'
import type { ValueRecord } from '../values/value.ts'
import { bindInputs } from './bind-inputs.ts'

const files = memoryFiles({
  '/d/a.bam': 'bam',
  '/d/a.bam.bai': 'index',
  '/d/a.idx': 'other',
  '/d/big.txt': 'x'.repeat((64 << 10) + 1),
  '/dir/one.txt': '1',
  '/dir/sub/two.txt': '22',
})

const ontology = ontologyOf([
  '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "http://e/">]><rdf:RDF><owl:Class rdf:about="&e;kid"><rdfs:subClassOf rdf:resource="http://e/parent"/></owl:Class></rdf:RDF>',
  '@prefix e: <http://e/> .\n@prefix owl: <http://www.w3.org/2002/07/owl#> .\ne:same a owl:Class ;\n owl:equivalentClass e:parent .',
])

async function bind(inputs: string, given: ValueRecord, { version = 'v1.2', discover = true } = {}) {
  const tool = await loadTool(`cwlVersion: ${version}\nclass: CommandLineTool\ninputs: ${inputs}\noutputs: []\n`)
  const scope = scopeOf(NO_SCOPE, tool)
  const refusing = {
    run: () => {
      throw new Error('no JavaScript was needed')
    },
  }
  return bindInputs(tool, given, {
    scope,
    evaluator: evaluatorFor(refusing, scope, tool.version),
    files,
    ontology,
    discover,
  })
}

const file = (path: string): ValueRecord => ({ class: 'File', location: `file://${path}` })

describe('types and defaults', () => {
  test.each([
    ['{x: int}', { x: 1 }],
    ['{x: "int?"}', { x: null }],
    ['{x: {type: [int, string]}}', { x: 'a' }],
    ['{x: double}', { x: 1 }],
    ['{x: {type: {type: enum, symbols: [a]}}}', { x: 'a' }],
    ['{x: {type: {type: array, items: [int, string]}}}', { x: [1, 'a'] }],
    ['{x: Any}', { x: { y: [1] } }],
  ])('the inputs %s accept %j', async (inputs, given) => {
    expect(await bind(inputs, given)).toEqual(given)
  })

  test.each([
    ['{x: int}', { x: 1.5 }, /the input x must be int, not 1.5/],
    ['{x: int}', {}, /the input x must be int, and it is not given/],
    ['{x: Any}', { x: null }, /must be Any, and it is not given/],
    ['{x: int}', { x: 2 ** 40 }, /must be int/],
    ['{x: long}', { x: 2 ** 60 }, /must be long/],
    ['{x: "string[]"}', { x: ['a', 1] }, /must be string\[\], not a list of 2/],
    ['{x: {type: {type: enum, symbols: [a]}}}', { x: 'b' }, /must be enum\(a\), not "b"/],
    ['{x: File}', { x: { class: 'Directory', location: 'file:///dir' } }, /must be File, not a Directory/],
    ['{x: File}', { x: 'file:///d/a.bam' }, /must be File/],
  ])('the inputs %s refuse %j', async (inputs, given, words) => {
    await expect(bind(inputs, given)).rejects.toThrow(words)
  })

  test('a default replaces a missing or null value, and never false, 0 or an empty string', async () => {
    const inputs = '{a: {type: boolean, default: true}, b: {type: int, default: 7}, c: {type: string, default: word}}'
    expect(await bind(inputs, { a: false, b: 0, c: '' })).toEqual({ a: false, b: 0, c: '' })
    expect(await bind(inputs, { a: null })).toEqual({ a: true, b: 7, c: 'word' })
  })

  test('values for unknown inputs are left out', async () => {
    expect(await bind('{x: int}', { x: 1, y: 2, constructor: 3 })).toEqual({ x: 1 })
  })
})

describe('files', () => {
  test('a file gets the names that follow from its location, and its size', async () => {
    expect(await bind('{x: File}', { x: file('/d/a.bam') })).toEqual({
      x: { class: 'File', location: 'file:///d/a.bam', basename: 'a.bam', nameroot: 'a', nameext: '.bam', size: 3 },
    })
  })

  test('a missing file is refused', async () => {
    await expect(bind('{x: File}', { x: file('/d/gone') })).rejects.toThrow('there is no file at file:///d/gone')
  })

  test.each(['../up', 'a/b', '..'])('the basename %s is refused', async (basename) => {
    await expect(bind('{x: File}', { x: { ...file('/d/a.bam'), basename } })).rejects.toThrow(/cannot be a basename/)
  })

  test('a file may be a literal with contents', async () => {
    const literal = { class: 'File', basename: 'l.txt', contents: 'héllo' }
    expect(await bind('{x: File}', { x: literal })).toMatchObject({ x: { ...literal, size: 6, nameroot: 'l' } })
    await expect(bind('{x: File}', { x: { class: 'File' } })).rejects.toThrow(/a File needs a location, or contents/)
  })

  test('loadContents reads up to 64 KiB', async () => {
    const inputs = '{x: {type: File, inputBinding: {loadContents: true}}}'
    expect(await bind(inputs, { x: file('/d/a.bam') })).toMatchObject({ x: { contents: 'bam' } })
    await expect(bind(inputs, { x: file('/d/big.txt') })).rejects.toThrow(/larger than 64 KiB/)
    const cut = (await bind(inputs, { x: file('/d/big.txt') }, { version: 'v1.1' })).x as ValueRecord
    expect(String(cut.contents).length).toBe(64 << 10)
  })
})

describe('secondary files', () => {
  const inputs = '{x: {type: File, secondaryFiles: [.bai, ^.idx, .not?]}}'

  test('secondary files are found beside a top-level file', async () => {
    expect(await bind(inputs, { x: file('/d/a.bam') })).toMatchObject({
      x: { secondaryFiles: [{ location: 'file:///d/a.bam.bai' }, { location: 'file:///d/a.idx' }] },
    })
  })

  test('within a workflow, secondary files must be given with the file', async () => {
    await expect(bind(inputs, { x: file('/d/a.bam') }, { discover: false })).rejects.toThrow(
      'a.bam needs the secondary file a.bam.bai',
    )
    const complete = { ...file('/d/a.bam'), secondaryFiles: [file('/d/a.bam.bai'), file('/d/a.idx')] }
    await expect(bind(inputs, { x: complete }, { discover: false })).resolves.toBeDefined()
  })

  test('secondary files are required of each file in a list and in a record', async () => {
    const nested = '{x: {type: "File[]", secondaryFiles: [.gone]}}'
    await expect(bind(nested, { x: [file('/d/a.bam')] })).rejects.toThrow('a.bam.gone')
    const record = '{x: {type: {type: record, fields: {f: {type: File, secondaryFiles: [.gone]}}}}}'
    await expect(bind(record, { x: { f: file('/d/a.bam') } })).rejects.toThrow('a.bam.gone')
  })

  test('a secondary file outside the folder of its file is refused', async () => {
    const climbing = '{x: {type: File, secondaryFiles: [{pattern: "$(inputs.y)"}]}, y: string}'
    await expect(bind(climbing, { x: file('/d/a.bam'), y: '../dir/one.txt' })).rejects.toThrow(/not beside/)
  })
})

describe('formats', () => {
  const inputs = '{x: {type: File, format: "http://e/parent"}}'
  const of = (format: string) => ({ x: { ...file('/d/a.bam'), format } })

  test.each(['http://e/parent', 'http://e/kid', 'http://e/same'])(
    'the format %s is accepted as a subclass of parent',
    async (format) => {
      await expect(bind(inputs, of(format))).resolves.toBeDefined()
    },
  )

  test('another format, and a missing one, are refused', async () => {
    await expect(bind(inputs, of('http://e/other'))).rejects.toThrow(/has the format http:\/\/e\/other, which is not/)
    await expect(bind(inputs, { x: file('/d/a.bam') })).rejects.toThrow(/has no format/)
  })
})

describe('directories', () => {
  const given = { x: { class: 'Directory', location: 'file:///dir' } }
  const names = (value: ValueRecord): unknown =>
    (value.listing as ValueRecord[] | undefined)?.map((one) => [one.basename, names(one)])

  test.each([
    ['no_listing', undefined],
    [
      'shallow_listing',
      [
        ['one.txt', undefined],
        ['sub', undefined],
      ],
    ],
    [
      'deep_listing',
      [
        ['one.txt', undefined],
        ['sub', [['two.txt', undefined]]],
      ],
    ],
  ])('%s lists as deep as it states', async (loadListing, listing) => {
    const bound = await bind(`{x: {type: Directory, loadListing: ${loadListing}}}`, given)
    expect(names(bound.x as ValueRecord)).toEqual(listing)
  })

  test('a directory is listed completely in v1.0', async () => {
    const bound = await bind('{x: Directory}', given, { version: 'v1.0' })
    expect(names(bound.x as ValueRecord)).toEqual([
      ['one.txt', undefined],
      ['sub', [['two.txt', undefined]]],
    ])
  })
})
