import { expect, test } from 'vitest'
import { capabilitiesFor, EVERYTHING } from '../broken/profile.ts'
import { CHECKS } from '../checks.ts'
import { docsPage } from '../docs-page.ts'
import { isMet, needText } from '../probe/needs.ts'
import { serverOffer } from '../probe/offer.ts'
import { RPC } from '../probe/rpcs.ts'
import { unoffered } from '../unoffered.ts'
import { BEHAVIOURS, EXECUTION_BEHAVIOURS } from './behaviours.ts'

const offer = (minor: number, splice: boolean) => {
  const capabilities = capabilitiesFor({ update: true, split: false, splice })
  return serverOffer({ ...capabilities, highApiVersion: { major: 2, minor, patch: 0, prerelease: '' } }, '')
}
const behaviour = (id: string) => {
  const found = BEHAVIOURS.find((each) => each.id === id)
  if (found === undefined) throw new Error(`no behaviour ${id}`)
  return found
}

test('behaviour ids are unique and have two or three lower-case segments', () => {
  const ids = BEHAVIOURS.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[a-z0-9-]+(\.[a-z0-9-]+){1,2}$/.test(id))).toEqual([])
})

test('every behaviour has a check, and every check a behaviour', () => {
  expect(Object.keys(CHECKS).sort()).toEqual(BEHAVIOURS.map(({ id }) => id).sort())
})

test('each behaviour has its own sentence', () => {
  expect(BEHAVIOURS.filter(({ sentence }) => !/^\S.*\.$/.test(sentence)).map(({ id }) => id)).toEqual([])
  const sentences = BEHAVIOURS.map(({ service, sentence }) => `${service}: ${sentence}`)
  expect(sentences.filter((each, index) => sentences.indexOf(each) !== index)).toEqual([])
})

test('the documentation is generated from the table', async () => {
  await expect(docsPage()).toMatchFileSnapshot('../../../../docs/conformance/reapi.md')
})

test('a behaviour whose feature is not advertised is not offered, and the reason names the feature', () => {
  expect(isMet('splice', offer(12, true))).toBe(true)
  expect(unoffered(behaviour('splice.joins'), offer(12, false))).toBe(`needs ${needText('splice')}`)
})

test('all execution behaviours of a cache-only server have the same reason', () => {
  const storing = serverOffer({ ...capabilitiesFor(EVERYTHING), executionCapabilities: undefined }, '')
  const reasons = new Set(EXECUTION_BEHAVIOURS.map((each) => unoffered(each, storing)))
  expect([...reasons]).toEqual([`needs ${needText('exec')}`])
})

test('without a worker, only one execution behaviour is checked', () => {
  const idle = { ...serverOffer(capabilitiesFor(EVERYTHING), ''), idle: 'no worker' }
  expect(EXECUTION_BEHAVIOURS.filter((each) => unoffered(each, idle) === undefined).map(({ id }) => id)).toEqual([
    'execute.runs',
  ])
})

test('a behaviour of a later API version is not offered by an older server', () => {
  expect(unoffered(behaviour('digests.undefined-function'), offer(3, true))).toBe(
    'requires API 2.5; the server supports API versions up to 2.3',
  )
})

test('a server that advertises a feature of a later version offers it', () => {
  expect(unoffered(behaviour('splice.joins'), offer(3, true))).toBeUndefined()
})

test('a blob limit of the largest int64 counts as no limit, because no larger blob can be requested', () => {
  // The answer of bazel-remote 2.6.2; its limit is the largest int64.
  const answer = '0a1f0a0101120208011a020a0028023201013a010140ffffffffffffffff7f5001220208022a0408021003'
  const server = serverOffer(RPC.getCapabilities.decode(Buffer.from(answer, 'hex')), '')
  expect(server.cache).toMatchObject({ digestFunctions: [1], supportedCompressors: [1], spliceBlobSupport: true })
  expect(unoffered(behaviour('bytestream.write.over-limit'), server)).toBe('needs a limit for blobs')
  expect(unoffered(behaviour('splice.joins'), server)).toBeUndefined()
})
