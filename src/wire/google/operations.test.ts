import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListOperationsRequest, WaitOperationRequest } from '../gen/google/longrunning/operations.ts'
import { anInstance, encodedAs, judged, someText } from '../messages/messages.fixture.ts'
import {
  formatOperationName,
  listOperationsRequestFromProto,
  listOperationsResponse,
  operationRequestFromProto,
  parseOperationName,
  waitOperationRequestFromProto,
} from './operations.ts'

const anId = someText.filter((id) => id !== '' && !id.includes('/'))

test('a name is read back as it was written', () => {
  fc.assert(
    fc.property(fc.record({ instance: anInstance, id: anId }), (name) => {
      expect(parseOperationName(formatOperationName(name))).toEqual(name)
    }),
  )
  expect(formatOperationName({ instance: '', id: '1' })).toBe('operations/1')
  // Some clients put the slash after an instance without a name too.
  expect(parseOperationName('/operations/1')).toEqual({ instance: '', id: '1' })
})

test.each([
  '',
  '1',
  'operations',
  'operations/',
  'a/1',
  '//operations/1',
  '../operations/1',
  'operations/operations/1',
])('%j is the name of nothing', (name) => {
  expect(parseOperationName(name)).toBeUndefined()
})

test.each([
  ['', ''],
  ['operations', ''],
  ['main', 'main'],
  ['main/operations', 'main'],
  ['a/b/', 'a/b'],
])('the operations under %j are those of instance %j', (name, instance) => {
  const request = listOperationsRequestFromProto(
    encodedAs(ListOperationsRequest, { name, pageSize: 3, pageToken: 'x' }),
  )
  expect(request).toEqual({ instance, pageSize: 3, pageToken: 'x' })
})

test('a wait may have an end', () => {
  expect(
    waitOperationRequestFromProto(encodedAs(WaitOperationRequest, { name: 'a', timeout: { seconds: 2 } })),
  ).toEqual({
    name: 'a',
    timeoutMs: 2000,
  })
  expect(waitOperationRequestFromProto(encodedAs(WaitOperationRequest, { name: 'a' })).timeoutMs).toBeUndefined()
})

test('operations go into a list as they are', () => {
  const one = Buffer.from('0a0161', 'hex') // named a
  const list = judged('google.longrunning.ListOperationsResponse', listOperationsResponse([one, one], 'next'))
  expect(list).toMatchObject({ operations: [{ name: 'a' }, { name: 'a' }], nextPageToken: 'next' })
  expect(listOperationsResponse([], '')).toHaveLength(0)
})

test('bytes that are no request are refused', () => {
  for (const read of [operationRequestFromProto, waitOperationRequestFromProto, listOperationsRequestFromProto])
    expect(() => read(Buffer.from('0aff', 'hex'))).toThrow('malformed')
})
