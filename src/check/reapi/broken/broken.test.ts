import { afterAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../../base/clock.ts'
import type { Result } from '../../behaviour.ts'
import { ZSTD } from '../probe/compressors.ts'
import { CACHE_BEHAVIOURS as BEHAVIOURS, type ReapiBehaviour } from '../table/behaviours.ts'
import { after, type Break } from './break.ts'
import { BREAKS } from './breaks.ts'
import { EVERYTHING } from './profile.ts'
import { profileFor, tryServer } from './try-server.ts'

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

const idsOf = (results: readonly Result[], kind: Result['outcome']['kind']): string[] =>
  results.filter(({ outcome }) => outcome.kind === kind).map(({ behaviour }) => behaviour.id)

const isAboutReading = ({ id }: ReapiBehaviour): boolean => /read\.|read-compressed|compressors-work/.test(id)

/** Not a defect: zstd allows several frames in a row, and skippable frames among them. */
const inFrames: Break = after('read', (pieces, { resourceName }) => {
  if (!resourceName.includes('/zstd/')) return pieces
  const skippable = Buffer.from('502a4d18020000006869', 'hex')
  const plain = ZSTD.decompress(Buffer.concat(pieces))
  const half = plain.length >> 1
  return [skippable, ZSTD.compress(plain.subarray(0, half)), skippable, ZSTD.compress(plain.subarray(half))]
})

const isForLess = ({ needs }: ReapiBehaviour): boolean => needs.some((need) => /^(no-.*|read-only)$/.test(need))

test('every behaviour of a cache has a defect that breaks it, and every defect has a behaviour', () => {
  expect(Object.keys(BREAKS).sort()).toEqual(BEHAVIOURS.map(({ id }) => id).sort())
})

describe('the conformance suite against a correct server', () => {
  test('passes every offered behaviour', async () => {
    const { results } = await tryServer({ behaviours: BEHAVIOURS, clock })
    expect(results.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([])
    expect(idsOf(results, 'not offered')).toEqual(BEHAVIOURS.filter(isForLess).map(({ id }) => id))
  })

  test('passes when zstd is sent in several and skippable frames', async () => {
    const { results } = await tryServer({ behaviours: BEHAVIOURS.filter(isAboutReading), clock, mistake: inFrames })
    expect(results.length).toBeGreaterThan(30)
    expect(results.filter(({ outcome }) => outcome.kind !== 'passed')).toEqual([])
  })

  test('passes the behaviours of a server with fewer features', async () => {
    const profile = { update: false, split: false, splice: false }
    const { results } = await tryServer({ behaviours: BEHAVIOURS.filter(isForLess), clock, profile })
    expect(idsOf(results, 'passed')).toEqual(BEHAVIOURS.filter(isForLess).map(({ id }) => id))
  })
})

test.each([
  ['get-tree.implemented', /get-tree/],
  ['bytestream.query.implemented', /query/],
] as const)(
  'an unimplemented method is one failure, and the behaviours that need it are not offered: %s',
  async (id, isAbout) => {
    const { results } = await tryServer({ behaviours: BEHAVIOURS, clock, mistake: BREAKS[id] })
    expect(idsOf(results, 'failed')).toEqual([id])
    const needing = BEHAVIOURS.filter((each) => isAbout.test(each.id) && each.id !== id).map((each) => each.id)
    expect(needing.length).toBeGreaterThan(5)
    expect(idsOf(results, 'not offered')).toEqual(expect.arrayContaining(needing))
  },
)

/** Checks that transfer megabytes run only against their own defect. */
const HEAVY =
  /large|slow-reader|message-size|concurrent|deep|many|bounded|existing|cancelled|too-long|at-limit|over-limit/

describe('the conformance suite against a server with one defect', () => {
  /** Prints the other behaviours of the same service that a defect breaks, for review. */
  const alsoFailed: string[] = []
  afterAll(() => console.log(`One mistake and what else of the service it trips:\n${alsoFailed.sort().join('\n')}`))

  test.concurrent.each(BEHAVIOURS)('reports the defect: $id', async (behaviour) => {
    const isRelative = ({ service, id }: ReapiBehaviour) => service === behaviour.service && !HEAVY.test(id)
    const behaviours = BEHAVIOURS.filter((each) => each === behaviour || isRelative(each))
    const profile = isForLess(behaviour) ? profileFor(behaviour) : EVERYTHING
    const { results } = await tryServer({ behaviours, clock, profile, mistake: BREAKS[behaviour.id] })
    const failed = idsOf(results, 'failed')
    if (failed.length > 1) alsoFailed.push(`  ${behaviour.id}: ${failed.filter((id) => id !== behaviour.id).join(' ')}`)
    expect(failed).toContain(behaviour.id)
    const slow = results.filter(({ ms }) => ms > 9_000).map(({ behaviour: { id } }) => id)
    expect(slow, 'no mistake is caught by waiting for a deadline').toEqual([])
  })
})
