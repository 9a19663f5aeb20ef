import { describe, expect, test } from 'vitest'
import { prepareHashing } from '../../src/base/hashing/create-hasher.ts'
import { resultFrom } from '../../src/check/reapi/probe/actions.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { digestFn, refusal } from './cache-client.ts'
import { clientOf, ownFolder, serverIn } from './in-process.ts'

const SPACES = `
[storage.spaces]
apart = 1
"team/one" = 2
"team/two" = 2

[storage.digest_functions]
three = "blake3"
long = "sha512"
`

describe('storage spaces', () => {
  test('a blob of one space is not in another, and instances of one space share their blobs', async () => {
    const folder = ownFolder()
    const server = await serverIn(folder, SPACES)
    const of = (instance: string) => clientOf(server.grpc, { instance, seed: 'the same' })
    const [usual, other, apart, one, two] = [of(''), of('any/other'), of('apart'), of('team/one'), of('team/two')]
    const [inUsual, inApart, inTeam] = [usual.blob(), usual.blob(9_000_000), usual.blob()]
    await usual.put(inUsual)
    await apart.write(inApart)
    await one.put(inTeam)
    const all = [inUsual, inApart, inTeam]
    expect(await usual.missing(all)).toEqual([inApart, inTeam])
    expect(await other.missing(all)).toEqual([inApart, inTeam])
    expect(await apart.missing(all)).toEqual([inUsual, inTeam])
    expect(await one.missing(all)).toEqual([inUsual, inApart])
    expect(await two.missing(all)).toEqual([inUsual, inApart])
    expect(Buffer.compare(await two.read(inTeam), inTeam.bytes)).toBe(0)
    expect((await refusal(usual.read(inApart))).code).toBe(STATUS.notFound)
    // An early end of the upload must not reveal either that another space holds the blob.
    expect((await usual.bytestream.query(usual.names.write(inApart.digest))).complete).toBe(false)
    await server.stop()
    const again = clientOf((await serverIn(folder, SPACES)).grpc, { instance: 'team/two' })
    expect(await again.missing(all)).toEqual([inUsual, inApart])
  })

  test('action results are never shared, not even by instances of one space', async () => {
    const server = await serverIn(ownFolder(), SPACES)
    const of = (instance: string) => clientOf(server.grpc, { instance })
    const { digest } = of('').blob()
    const names = ['', 'other', 'apart', 'team/one', 'team/two']
    for (const name of ['other', 'team/one']) {
      const made = resultFrom({ executionMetadata: { worker: name } })
      await of(name).api.updateResult({ actionDigest: digest, actionResult: made })
    }
    const found = await Promise.all(
      names.map((name) =>
        of(name)
          .api.getResult(digest)
          .then(
            ({ executionMetadata }) => executionMetadata?.worker,
            (error) => error.code,
          ),
      ),
    )
    expect(found).toEqual([STATUS.notFound, 'other', STATUS.notFound, 'team/one', STATUS.notFound])
  })

  test('an action result is found only when its outputs are in the same space', async () => {
    const server = await serverIn(ownFolder(), SPACES)
    const apart = clientOf(server.grpc, { instance: 'apart' })
    const usual = clientOf(server.grpc)
    const output = apart.blob()
    const { digest } = apart.blob()
    await usual.put(output)
    const made = resultFrom({ outputFiles: [{ path: 'out', digest: output.digest }] })
    await apart.api.updateResult({ actionDigest: digest, actionResult: made })
    expect((await refusal(apart.api.getResult(digest))).code).toBe(STATUS.notFound)
    await apart.put(output)
    expect((await apart.api.getResult(digest)).outputFiles).toHaveLength(1)
  })
})

describe('the default digest function', () => {
  /** Resource names and requests as clients of the instance send them: without the name of the function. */
  const unnamed = (name: string) => ({ ...digestFn(name), segment: '' })

  test.each([
    ['three', 'BLAKE3', 9],
    ['long', 'SHA512', 6],
    ['', 'SHA256', 1],
  ])('of instance "%s" is %s, and is the first in its capabilities', async (instance, name, number) => {
    await prepareHashing()
    const server = await serverIn(ownFolder(), SPACES)
    const client = clientOf(server.grpc, { instance, fn: unnamed(name) })
    const offered = (await client.api.capabilities()).cacheCapabilities?.digestFunctions
    expect(offered?.[0]).toBe(number)
    expect(new Set(offered).size).toBe(offered?.length)
    const [small, large] = [client.blob(), client.blob(9_000_000)]
    await client.put(small)
    await client.write(large)
    expect(await client.missing([small, large])).toEqual([])
    expect(Buffer.compare(await client.read(large), large.bytes)).toBe(0)
    const { digest } = client.blob()
    await client.api.updateResult({ actionDigest: digest, actionResult: resultFrom({}) })
    expect((await client.api.getResult(digest)).exitCode).toBe(0)
  })

  test('can be overridden by the name of the function or by the length of the hash', async () => {
    await prepareHashing()
    const server = await serverIn(ownFolder(), SPACES)
    for (const name of ['SHA512', 'BLAKE3', 'SHA1', 'SHA256TREE']) {
      const client = clientOf(server.grpc, { instance: 'three', fn: digestFn(name) })
      const blob = client.blob()
      await client.write(blob)
      expect(await client.missing([blob]), name).toEqual([])
    }
    // In this instance 64 digits without a name are BLAKE3, which the SHA-256 of the bytes does not match.
    const mistaken = clientOf(server.grpc, { instance: 'three' })
    expect((await refusal(mistaken.write(mistaken.blob()))).code).toBe(STATUS.invalidArgument)
  })

  test('of two instances keeps blobs with equal hashes apart', async () => {
    await prepareHashing()
    const server = await serverIn(ownFolder(), SPACES)
    const blake = clientOf(server.grpc, { instance: 'three', fn: unnamed('BLAKE3') })
    const blob = blake.blob()
    await blake.put(blob)
    const sha = clientOf(server.grpc)
    expect(await sha.missing([blob])).toEqual([blob])
    expect((await refusal(sha.read(blob))).code).toBe(STATUS.notFound)
  })
})
