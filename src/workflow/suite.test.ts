import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Fetch } from './loading/fetch.ts'
import { loadProcess } from './loading/load.ts'
import { comparable } from './packing/comparable.fixture.ts'
import { packProcess } from './packing/pack.ts'
import { checkProcess } from './process/check.ts'

/** The conformance suite is not part of the repository: where it is present, each of its documents is loaded. */
const suite = process.env.WINDLASS_CWL_SUITE

/** Documents that the suite requires to be refused. */
const REFUSED = [
  'conditionals/cond-wf-005.cwl',
  'conditionals/cond-wf-005_nojs.cwl',
  'mixed-versions/invalid-tool-v10.cwl',
  'mixed-versions/invalid-tool-v11.cwl',
  'mixed-versions/invalid-wf-v10.cwl',
  'mixed-versions/invalid-wf-v11.cwl',
  'mixed-versions/invalid-wf-v12.cwl',
  'timelimit2.cwl',
]
/** Documents of several processes without a main process. */
const FRAGMENTS: Readonly<Record<string, string>> = { 'conflict-wf.cwl': '#collision', 'js-expr-req-wf.cwl': '#wf' }

const fetch: Fetch = (uri) => readFile(decodeURIComponent(uri.slice('file://'.length)), 'utf8')

const skipping = {
  skip: suite === undefined,
  meta: { skipReason: 'WINDLASS_CWL_SUITE does not name the folder of the suite' },
}

describe('documents of the CWL conformance suite', skipping, () => {
  const folder = join(suite ?? '', 'tests')
  const names =
    suite === undefined
      ? []
      : readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cwl'))
  const addressOf = (name: string): string =>
    `file://${join(folder, name).split('/').map(encodeURIComponent).join('/')}${FRAGMENTS[name] ?? ''}`

  test('all documents load, except those that must be refused', async () => {
    const refused: string[] = []
    for (const name of names) {
      await loadProcess(addressOf(name), fetch)
        .then((loaded) => checkProcess(loaded))
        .catch((cause: Error) => {
          expect(cause.name, `${name}: ${cause.message}`).toBe('FaultError')
          refused.push(name)
        })
    }
    expect(names.length).toBeGreaterThan(300)
    expect(refused.sort()).toEqual(REFUSED)
  })

  test('all documents load equal after packing', async () => {
    for (const name of names.filter((one) => !REFUSED.includes(one))) {
      const loaded = await loadProcess(addressOf(name), fetch)
      const packed = JSON.stringify(packProcess(loaded))
      const again = await loadProcess('file:///packed.cwl', async () => packed)
      expect(comparable(again), name).toEqual(comparable(loaded))
    }
  })
})
