import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServerCapabilities } from '../../model/capabilities.ts'
import { COMPRESSORS } from '../../model/compressor.ts'
import { ServerCapabilities as Proto } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import {
  ACCIDENTS,
  aFunction,
  anInstance,
  aSize,
  damaged,
  encodedAs,
  maybe,
  orRefused,
  someText,
} from '../messages/messages.fixture.ts'
import {
  capabilitiesFromProto,
  capabilitiesRequestFromProto,
  capabilitiesRequestToProto,
  capabilitiesToProto,
} from './capabilities.ts'

const aVersion = fc.record({ major: fc.nat(9), minor: fc.nat(99) })
const priorities = fc.array(fc.record({ min: fc.integer(), max: fc.integer() }), { maxLength: 2 })
const compressors = fc.array(fc.constantFrom(...COMPRESSORS), { maxLength: 4 })
const functions = fc.array(aFunction, { minLength: 1, maxLength: 4 })
const capabilities: fc.Arbitrary<ServerCapabilities> = fc.record({
  cache: fc.record({
    digestFunctions: functions,
    updateEnabled: fc.boolean(),
    priorities,
    maxBatchBytes: aSize,
    maxBlobBytes: aSize,
    absoluteSymlinks: fc.constantFrom('allowed', 'disallowed'),
    compressors,
    batchUpdateCompressors: compressors,
    splitBlob: fc.boolean(),
    spliceBlob: fc.boolean(),
    fastCdc: maybe(fc.record({ averageChunkBytes: aSize, seed: fc.nat() })),
    repMaxCdc: maybe(fc.record({ minChunkBytes: aSize, horizonBytes: aSize })),
  }),
  execution: maybe(
    fc.record({
      enabled: fc.boolean(),
      digestFunctions: functions,
      priorities,
      nodeProperties: fc.array(someText, { maxLength: 2 }),
    }),
  ),
  lowApiVersion: aVersion,
  highApiVersion: aVersion,
  deprecatedApiVersion: maybe(aVersion),
})

test('capabilities round-trip', () => {
  fc.assert(
    fc.property(capabilities, (noun) => {
      expect(capabilitiesFromProto(capabilitiesToProto(noun))).toEqual(noun)
    }),
  )
})

test('damaged capabilities are refused or read, without another error', () => {
  fc.assert(
    fc.property(damaged(capabilities.map(capabilitiesToProto)), (bytes) => {
      orRefused(() => capabilitiesFromProto(bytes))
      orRefused(() => capabilitiesRequestFromProto(bytes))
    }),
    { numRuns: ACCIDENTS },
  )
})

test('a capabilities request is read as its instance name', () => {
  fc.assert(
    fc.property(anInstance, (instance) => {
      expect(capabilitiesRequestFromProto(capabilitiesRequestToProto(instance))).toBe(instance)
    }),
  )
})

test('execution capabilities name the first digest function also in the older singular field', () => {
  const [noun] = fc.sample(
    capabilities.filter(({ execution }) => execution !== undefined),
    1,
  )
  const { execution, ...rest } = noun as ServerCapabilities
  const bytes = capabilitiesToProto({
    ...rest,
    execution: {
      enabled: true,
      priorities: [],
      nodeProperties: [],
      ...execution,
      digestFunctions: ['blake3', 'sha256'],
    },
  })
  const { executionCapabilities } = Proto.decode(bytes)
  expect(executionCapabilities).toMatchObject({ digestFunction: 9, digestFunctions: [9, 1] })
})

test("an older server's single digest function is read, and unknown functions and compressors are ignored", () => {
  const bytes = encodedAs(Proto, {
    cacheCapabilities: { digestFunctions: [4, 1, 99 as 1], supportedCompressors: [1, 77 as 1] },
    executionCapabilities: { digestFunction: 1 },
  })
  expect(capabilitiesFromProto(bytes)).toMatchObject({
    cache: { digestFunctions: ['sha256'], compressors: ['zstd'], updateEnabled: false, absoluteSymlinks: 'disallowed' },
    execution: { digestFunctions: ['sha256'], enabled: false },
    lowApiVersion: { major: 0, minor: 0 },
  })
})

/** The capabilities of bazel-remote 2.6.2: the blob size limit is the largest int64. */
const FROM_BAZEL_REMOTE = '0a1f0a0101120208011a020a0028023201013a010140ffffffffffffffff7f5001220208022a0408021003'

test('a blob size limit of 2^63 - 1 reads as the largest safe integer, and the other fields are read', () => {
  const capabilities = capabilitiesFromProto(Buffer.from(FROM_BAZEL_REMOTE, 'hex'))
  expect(capabilities).toEqual({
    cache: {
      digestFunctions: ['sha256'],
      updateEnabled: true,
      priorities: [{ min: 0, max: 0 }],
      maxBatchBytes: 0,
      maxBlobBytes: Number.MAX_SAFE_INTEGER,
      absoluteSymlinks: 'allowed',
      compressors: ['zstd'],
      batchUpdateCompressors: ['zstd'],
      splitBlob: false,
      spliceBlob: true,
      fastCdc: undefined,
      repMaxCdc: undefined,
    },
    execution: undefined,
    lowApiVersion: { major: 2, minor: 0 },
    highApiVersion: { major: 2, minor: 3 },
    deprecatedApiVersion: undefined,
  })
})

const LAST = Number.MAX_SAFE_INTEGER

test.each([
  ['2^53 - 1', 'ffffffffffffff0f', LAST],
  ['2^53', '8080808080808010', LAST],
  ['2^63 - 1', 'ffffffffffffffff7f', LAST],
  ['-1', 'ffffffffffffffffff01', -1],
  ['-2^63', '80808080808080808001', -LAST],
])('a limit of %s is clamped to the safe integers', (_, number, expected) => {
  for (const [tag, field] of [
    ['20', 'maxBatchBytes'],
    ['40', 'maxBlobBytes'],
  ] as const) {
    const cache = Buffer.from(tag + number, 'hex')
    const bytes = Buffer.concat([Uint8Array.of(0x0a, cache.length), cache])
    expect(capabilitiesFromProto(bytes).cache[field]).toBe(expected)
  }
})

test('the unsigned chunking parameters are clamped to the largest safe integer', () => {
  const average = Buffer.from('08ffffffffffffffffff01', 'hex')
  const cache = Buffer.concat([Uint8Array.of(0x5a, average.length), average])
  const bytes = Buffer.concat([Uint8Array.of(0x0a, cache.length), cache])
  expect(capabilitiesFromProto(bytes).cache.fastCdc).toEqual({ averageChunkBytes: LAST, seed: 0 })
})
