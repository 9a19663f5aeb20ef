import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ListOperationsRequest, WaitOperationRequest } from '../gen/google/longrunning/operations.ts'
import { anInstance, encodedAs, judged, someText } from '../messages/messages.fixture.ts'
import { formatOperationName, parseOperationName } from './operation-name.ts'
import {
  listOperationsRequestFromProto,
  listOperationsResponse,
  operationRequestFromProto,
  waitOperationRequestFromProto,
} from './operations.ts'

const anId = someText.filter((id) => id !== '' && !id.includes('/'))

test('an operation name round-trips', () => {
  fc.assert(
    fc.property(fc.record({ instance: anInstance, id: anId }), (name) => {
      expect(parseOperationName(formatOperationName(name))).toEqual(name)
    }),
  )
  expect(formatOperationName({ instance: '', id: '1' })).toBe('operations/1')
  // Some clients write the slash even when the instance name is empty.
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
])('%j is not an operation name', (name) => {
  expect(parseOperationName(name)).toBeUndefined()
})

test.each([
  ['', ''],
  ['operations', ''],
  ['main', 'main'],
  ['main/operations', 'main'],
  ['a/b/', 'a/b'],
])('a list under %j has the operations of instance %j', (name, instance) => {
  const request = listOperationsRequestFromProto(
    encodedAs(ListOperationsRequest, { name, pageSize: 3, pageToken: 'x' }),
  )
  expect(request).toEqual({ instance, pageSize: 3, pageToken: 'x' })
})

test('WaitOperationRequest has an optional timeout', () => {
  expect(
    waitOperationRequestFromProto(encodedAs(WaitOperationRequest, { name: 'a', timeout: { seconds: 2 } })),
  ).toEqual({
    name: 'a',
    timeoutMs: 2000,
  })
  expect(waitOperationRequestFromProto(encodedAs(WaitOperationRequest, { name: 'a' })).timeoutMs).toBeUndefined()
})

test('listOperationsResponse contains the operations unchanged', () => {
  const one = Buffer.from('0a0161', 'hex') // named a
  const list = judged('google.longrunning.ListOperationsResponse', listOperationsResponse([one, one], 'next'))
  expect(list).toMatchObject({ operations: [{ name: 'a' }, { name: 'a' }], nextPageToken: 'next' })
  expect(listOperationsResponse([], '')).toHaveLength(0)
})

test('malformed requests are refused', () => {
  for (const read of [operationRequestFromProto, waitOperationRequestFromProto, listOperationsRequestFromProto])
    expect(() => read(Buffer.from('0aff', 'hex'))).toThrow('malformed')
})
