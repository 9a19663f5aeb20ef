import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServerCapabilities } from '../model/capabilities.ts'
import { COMPRESSORS } from '../model/compressor.ts'
import {
  capabilitiesFromProto,
  capabilitiesRequestFromProto,
  capabilitiesRequestToProto,
  capabilitiesToProto,
} from './capabilities.ts'
import { ServerCapabilities as Proto } from './gen/build/bazel/remote/execution/v2/remote_execution.ts'
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
} from './messages.fixture.ts'

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

test('capabilities come back as they went', () => {
  fc.assert(
    fc.property(capabilities, (noun) => {
      expect(capabilitiesFromProto(capabilitiesToProto(noun))).toEqual(noun)
    }),
  )
})

test('capabilities that were damaged are refused or read, and nothing else', () => {
  fc.assert(
    fc.property(damaged(capabilities.map(capabilitiesToProto)), (bytes) => {
      orRefused(() => capabilitiesFromProto(bytes))
      orRefused(() => capabilitiesRequestFromProto(bytes))
    }),
    { numRuns: ACCIDENTS },
  )
})

test('the request is the name of an instance', () => {
  fc.assert(
    fc.property(anInstance, (instance) => {
      expect(capabilitiesRequestFromProto(capabilitiesRequestToProto(instance))).toBe(instance)
    }),
  )
})

test('execution names its first function for clients that know of one only', () => {
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

test('an older server names one function, and others name what we do not know', () => {
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
