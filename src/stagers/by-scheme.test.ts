import { expect, test } from 'vitest'
import { digestOf } from '../base/hashing/hash-of.ts'
import { stagersByScheme } from './by-scheme.ts'
import { casStager } from './cas-stager.ts'
import { stagerContract } from './contract.ts'
import type { StagedNode, Stager } from './stager.ts'
import { memoryTrees } from './trees.fixture.ts'

stagerContract('a registry with one stager', async () => {
  const trees = memoryTrees()
  return { trees, stager: stagersByScheme({ cas: casStager(trees) }), to: 'cas:' }
})

const NODE: StagedNode = { kind: 'file', digest: digestOf('sha256', Buffer.from('x')), executable: false }

/** Finds the same file at each location, and records the stager that was called. */
const noting = (name: string, calls: string[]): Stager => ({
  async find(location) {
    calls.push(`${name} find ${location}`)
    return NODE
  },
  async put(_, to) {
    calls.push(`${name} put ${to}`)
    return to
  },
  named: () => undefined,
})

test('the scheme of the location selects the stager, in any case of letters', async () => {
  const calls: string[] = []
  const stager = stagersByScheme({ s3: noting('s3', calls), https: noting('https', calls) }, noting('other', calls))
  for (const location of ['s3://b/k', 'HTTPS://h/p', 'ftp://h/p', 's3', 'constructor:x']) await stager.find(location)
  await stager.put(NODE, 's3://b/out')
  await stager.put(NODE, 'file:///out')
  expect(calls).toEqual([
    's3 find s3://b/k',
    'https find HTTPS://h/p',
    'other find ftp://h/p',
    'other find s3',
    'other find constructor:x',
    's3 put s3://b/out',
    'other put file:///out',
  ])
})
