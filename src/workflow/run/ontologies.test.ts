import { expect, test } from 'vitest'
import { fetchFrom, load } from '../documents.fixture.ts'
import { loadOntology } from './ontologies.ts'

const documents = {
  'main.cwl':
    'cwlVersion: v1.2\nclass: Workflow\n$schemas: [gone.ttl]\ninputs: []\noutputs: []\nsteps: {s: {run: tool.cwl, in: [], out: []}}\n',
  'tool.cwl': 'cwlVersion: v1.2\nclass: CommandLineTool\n$schemas: [e.ttl]\ninputs: []\noutputs: []\n',
  'e.ttl':
    '@prefix e: <http://e/> .\ne:kid <http://www.w3.org/2000/01/rdf-schema#subClassOf> e:parent, e:other ; e:note "a . b" .\ne:parent rdfs:subClassOf <http://e/root> .\n',
}

test('the $schemas of all processes are read, and one that cannot be fetched is ignored', async () => {
  const ontology = await loadOntology(await load(documents), fetchFrom(documents))
  const kinds = ['http://e/kid', 'http://e/parent', 'http://e/other', 'http://e/root', 'http://e/note']
  expect(kinds.map((one) => ontology?.isKindOf('http://e/kid', one))).toEqual([true, true, true, true, false])
  expect(ontology?.isKindOf('http://e/root', 'http://e/kid')).toBe(false)
})

test('a process without $schemas has no ontology', async () => {
  const plain = 'cwlVersion: v1.2\nclass: CommandLineTool\ninputs: []\noutputs: []\n'
  expect(await loadOntology(await load({ 'main.cwl': plain }), fetchFrom({}))).toBeUndefined()
})
