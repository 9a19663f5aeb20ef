import fc from 'fast-check'
import { expect, test } from 'vitest'
import { someText } from '../messages/messages.fixture.ts'
import { REQUEST_METADATA_HEADER, requestMetadataFromProto, requestMetadataToProto } from './execution.ts'

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

test('request metadata round-trips', () => {
  fc.assert(
    fc.property(metadata, (noun) => {
      expect(requestMetadataFromProto(requestMetadataToProto(noun))).toEqual(noun)
    }),
  )
})

test('malformed request metadata reads as undefined, without an error', () => {
  expect(requestMetadataFromProto(Buffer.from('not a message'))).toBeUndefined()
  expect(requestMetadataFromProto(Buffer.from('1202ff', 'hex'))).toBeUndefined()
  fc.assert(fc.property(fc.uint8Array(), (bytes) => requestMetadataFromProto(bytes) !== null))
})

test('empty request metadata reads as empty fields', () => {
  expect(requestMetadataFromProto(new Uint8Array())).toMatchObject({ toolName: '', targetId: '' })
})

test('the request metadata header has the name that REAPI defines', () => {
  expect(REQUEST_METADATA_HEADER).toBe('build.bazel.remote.execution.v2.requestmetadata-bin')
})
