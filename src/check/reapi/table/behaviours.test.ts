import { expect, test } from 'vitest'
import { capabilitiesFor, EVERYTHING } from '../broken/profile.ts'
import { CHECKS } from '../checks.ts'
import { docsPage } from '../docs-page.ts'
import { isMet, needSays } from '../probe/needs.ts'
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

test('ids are unique, and written alike', () => {
  const ids = BEHAVIOURS.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[a-z0-9-]+(\.[a-z0-9-]+){1,2}$/.test(id))).toEqual([])
})

test('every behaviour has a check, and none is there in vain', () => {
  expect(Object.keys(CHECKS).sort()).toEqual(BEHAVIOURS.map(({ id }) => id).sort())
})

test('sentences are sentences, each said once', () => {
  expect(BEHAVIOURS.filter(({ sentence }) => !/^\S.*\.$/.test(sentence)).map(({ id }) => id)).toEqual([])
  const said = BEHAVIOURS.map(({ service, sentence }) => `${service}: ${sentence}`)
  expect(said.filter((each, index) => said.indexOf(each) !== index)).toEqual([])
})

test('the documentation is what the table says', async () => {
  await expect(docsPage()).toMatchFileSnapshot('../../../../docs/conformance/reapi.md')
})

test('what is not advertised is not offered, and the reason says what is needed', () => {
  expect(isMet('splice', offer(12, true))).toBe(true)
  expect(unoffered(behaviour('splice.joins'), offer(12, false))).toBe(`needs ${needSays('splice')}`)
})

test('a server that only stores is told so once for all of execution', () => {
  const storing = serverOffer({ ...capabilitiesFor(EVERYTHING), executionCapabilities: undefined }, '')
  const reasons = new Set(EXECUTION_BEHAVIOURS.map((each) => unoffered(each, storing)))
  expect([...reasons]).toEqual([`needs ${needSays('exec')}`])
})

test('where nobody works, only one behaviour is tried', () => {
  const idle = { ...serverOffer(capabilitiesFor(EVERYTHING), ''), idle: 'nobody' }
  expect(EXECUTION_BEHAVIOURS.filter((each) => unoffered(each, idle) === undefined).map(({ id }) => id)).toEqual([
    'execute.runs',
  ])
})

test('what came with a later version is not offered by an older server', () => {
  expect(unoffered(behaviour('digests.undefined-function'), offer(3, true))).toBe(
    'came with API 2.5; the server speaks up to 2.3',
  )
})

test('but a server that advertises it speaks for itself', () => {
  expect(unoffered(behaviour('splice.joins'), offer(3, true))).toBeUndefined()
})

test('a limit for blobs that is beyond counting is none: what is over it cannot be asked for', () => {
  // The answer of bazel-remote 2.6.2; its limit is the largest int64.
  const answer = '0a1f0a0101120208011a020a0028023201013a010140ffffffffffffffff7f5001220208022a0408021003'
  const server = serverOffer(RPC.getCapabilities.decode(Buffer.from(answer, 'hex')), '')
  expect(server.cache).toMatchObject({ digestFunctions: [1], supportedCompressors: [1], spliceBlobSupport: true })
  expect(unoffered(behaviour('bytestream.write.over-limit'), server)).toBe('needs a limit for blobs')
  expect(unoffered(behaviour('splice.joins'), server)).toBeUndefined()
})
