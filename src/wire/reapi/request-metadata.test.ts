import fc from 'fast-check'
import { expect, test } from 'vitest'
import { someText } from '../messages/messages.fixture.ts'
import { REQUEST_METADATA_HEADER, requestMetadataFromProto, requestMetadataToProto } from './request-metadata.ts'

const metadata = fc.record({
  toolName: someText,
  toolVersion: someText,
  actionId: someText,
  toolInvocationId: someText,
  correlatedInvocationsId: someText,
  actionMnemonic: someText,
  targetId: someText,
  configurationId: someText,
})

test('request metadata comes back as it went', () => {
  fc.assert(
    fc.property(metadata, (noun) => {
      expect(requestMetadataFromProto(requestMetadataToProto(noun))).toEqual(noun)
    }),
  )
})

test('garbage is no metadata, and no error', () => {
  expect(requestMetadataFromProto(Buffer.from('not a message'))).toBeUndefined()
  expect(requestMetadataFromProto(Buffer.from('1202ff', 'hex'))).toBeUndefined()
  fc.assert(fc.property(fc.uint8Array(), (bytes) => requestMetadataFromProto(bytes) !== null))
})

test('nothing said is a metadata of nothing', () => {
  expect(requestMetadataFromProto(new Uint8Array())).toMatchObject({ toolName: '', targetId: '' })
})

test('it travels under a name that clients know, in bytes', () => {
  expect(REQUEST_METADATA_HEADER).toBe('build.bazel.remote.execution.v2.requestmetadata-bin')
})
