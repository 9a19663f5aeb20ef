import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { testWith } from '../../testing/require.ts'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../digest.ts'
import { emptyDigest, isEmptyDigest } from '../empty-blob.ts'
import { createHasher, prepareHashing } from './create-hasher.ts'
import { digestOf, hashOf } from './hash-of.ts'

/** A failed property prints its seed; WINDLASS_SEED repeats that run. */
const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 200, ...(seed === undefined ? {} : { seed: Number(seed) }) })

const FUNCTIONS = Object.keys(DIGEST_FUNCTIONS) as DigestFunction[]
const hex = (raw: Uint8Array): string => Buffer.from(raw).toString('hex')
/** 0, 1, … 250, 0, 1, …: the input of the published SHA256TREE and BLAKE3 vectors. */
const cycle = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251)

test('BLAKE3 throws before prepareHashing(), and the other functions work', () => {
  expect(() => hashOf('blake3', cycle(1))).toThrow('await prepareHashing()')
  expect(() => createHasher('blake3').update(cycle(1))).toThrow('await prepareHashing()')
  expect(hashOf('sha256tree', cycle(1)).length).toBe(32)
})

describe('prepared hashing', () => {
  beforeAll(() => Promise.all([prepareHashing(), prepareHashing()]))

  test.each(FUNCTIONS)('%s of zero bytes is the empty digest', (fn) => {
    expect(digestOf(fn, new Uint8Array())).toEqual(emptyDigest(fn))
    expect(hex(createHasher(fn).digest())).toBe(emptyDigest(fn).hash)
    expect(isEmptyDigest(emptyDigest(fn))).toBe(true)
    expect(isEmptyDigest({ ...emptyDigest(fn), size: 1 })).toBe(false)
    expect(isEmptyDigest({ fn, hash: digestOf(fn, cycle(1)).hash, size: 0 })).toBe(false)
  })

  test.each([
    ['md5', '900150983cd24fb0d6963f7d28e17f72'],
    ['sha1', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['sha256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['sha256tree', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['sha384', 'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7'],
    [
      'sha512',
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a' +
        '2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    ],
    ['blake3', '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85'],
  ] as const)('%s of "abc" is the published hash', (fn, hash) => {
    expect(digestOf(fn, Buffer.from('abc'))).toEqual({ fn, hash, size: 3 })
  })

  // From the protocol's sha256tree_test_vectors.txt.
  test.each([
    [1025, '36c0998b21839ef74300b9de47d96d1f62323dc81f2b4231e98ce70cd6ffe750'],
    [2048, 'b584996386f01793751c5cf0c39561f51b7e9924b818943b3cb2f6928cea0fa9'],
    [2049, '7318d2029b0392edf4cf109edb5a086b4bdadbb7950f710a1483eb881d9e5d44'],
    [3072, 'dfc61c0a041f79d55d53bfe31c6cda7df77fdc8e6fbac1143d70b7144fdf6937'],
    [3073, '517d20c0e5835f060a1bd6388ed68574f63424bdac2a2c3a35a5c2ef859d8fe2'],
    [4096, '2f72bb93880012168c027f6781527ff08177c7c8dccb443f4d2c6389c186633d'],
    [4097, 'c3ec942c1b8f4580320d3a06bcf4f8fe1f5db2be797ab67061ea4c2a95f208f2'],
    [5120, 'a76924f6535b4b473377c285ec27acc84cc58e95ab1e9e29b1bb6a4a3fb9d0b3'],
    [5121, '98f987c3e9fc057a70873715b679b89a663d0df806859b6ce73f8379b06a10ff'],
    [6144, '372f988af412041b680ab236feef45626380062beb7514bbf93607aedd28fc9a'],
    [6145, '6dc4b78efd770453417b2ffdc74b27054793efe6122ecd7ee098670ed7c4651c'],
    [7168, '43686312c0cabccf9d5ad509efa096e3d743c63c7a51f122473c57949e4dd9a0'],
    [7169, 'ad729297ab36cd099665b27c4247474a5518e4cd0be443f5f31d95edda08429b'],
    [8192, 'fcfdde6fe59178e17708c5ba647919c3b141a44c9d1970782e597e1465266932'],
    [8193, '113c6e3a2452f388b6fad13dfab66ee0bff597a0a9a517ad8d0165f7190b603e'],
    [16_384, 'a7a10149a8cb00be537000560edb83b196306b780b72fad8af218f369f75fc19'],
    [31_744, '2cdf7662636c173d4b236f6ea03bf84c65e7f6487b53b2a61c420e26cf8a98c7'],
    [102_400, '0668d69e5331840d2f1823d717b7b3f5d1fdc8a09504cddb692b87ff83d50e5f'],
  ])('SHA256TREE of %i bytes is the published hash', (length, hash) => {
    expect(digestOf('sha256tree', cycle(length)).hash).toBe(hash)
  })

  test.each([
    [1, '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213'],
    [64, '4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98'],
    [1023, '10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11'],
    [1024, '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7'],
    [1025, 'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444'],
    [2048, 'e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a'],
    [2049, '5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030'],
    [3073, '7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3'],
    [31_744, '62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47'],
    [102_400, 'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085'],
  ])('BLAKE3 of %i bytes is the published hash', (length, hash) => {
    expect(digestOf('blake3', cycle(length)).hash).toBe(hash)
  })

  const TOOLS = {
    md5: 'md5sum',
    sha1: 'sha1sum',
    sha256: 'sha256sum',
    sha384: 'sha384sum',
    sha512: 'sha512sum',
    blake3: 'b3sum',
  } as const
  for (const [fn, tool] of Object.entries(TOOLS) as [keyof typeof TOOLS, string][]) {
    testWith(tool, `${fn} of a megabyte equals the output of ${tool}`, () => {
      const input = cycle(1_000_003)
      expect(spawnSync(tool, { input }).stdout.toString().split(' ')[0]).toBe(digestOf(fn, input).hash)
    })
  }

  const anyPieces = fc.array(fc.nat(3000), { maxLength: 8 }).map((lengths) => lengths.map(cycle))

  test.each(FUNCTIONS)(
    'a %s hasher gives the same hash for any division into pieces, and restarts after digest()',
    (fn) => {
      const hasher = createHasher(fn)
      fc.assert(
        fc.property(anyPieces, (pieces) => {
          for (const piece of pieces) hasher.update(piece)
          expect(hex(hasher.digest())).toBe(hex(hashOf(fn, Buffer.concat(pieces))))
        }),
      )
    },
  )

  test.each(FUNCTIONS)('interleaved %s hashers do not affect each other', (fn) => {
    const hashers = [createHasher(fn), createHasher(fn), createHasher(fn)]
    for (let turn = 0; turn < 50; turn += 1) {
      for (const [i, hasher] of hashers.entries()) hasher.update(cycle(100 * (i + 1)))
      hashOf(fn, cycle(turn))
    }
    for (const [i, hasher] of hashers.entries()) {
      const blob = Buffer.concat(Array.from({ length: 50 }, () => cycle(100 * (i + 1))))
      expect(hex(hasher.digest())).toBe(hex(hashOf(fn, blob)))
    }
  })

  test.each(FUNCTIONS)('the caller may reuse bytes after a %s update', (fn) => {
    const bytes = cycle(1500)
    const hasher = createHasher(fn)
    hasher.update(bytes)
    bytes.fill(0)
    expect(hex(hasher.digest())).toBe(hex(hashOf(fn, cycle(1500))))
  })
})
