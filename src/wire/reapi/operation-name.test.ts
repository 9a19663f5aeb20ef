import { expect, test } from 'vitest'
import { createLogStreamFromProto, createLogStreamToProto, logStreamFromProto, logStreamToProto } from './log-stream.ts'
import { formatLogName, formatOperationName, operationLogNames, parseLogName } from './operation-name.ts'

test('the log streams of an operation are named below the operation', () => {
  const { stdout, stderr } = operationLogNames(formatOperationName({ instance: 'a/b', id: 'op-1' }))
  expect([stdout, stderr]).toEqual(['a/b/operations/op-1/logstreams/stdout', 'a/b/operations/op-1/logstreams/stderr'])
  expect(parseLogName(stdout)).toEqual({ parents: ['a/b/operations/op-1'], id: 'stdout', token: undefined })
})

test('a log stream name for writing ends in a token', () => {
  expect(parseLogName(formatLogName('', 'id', 'secret'))).toEqual({ parents: [''], id: 'id', token: 'secret' })
  expect(parseLogName(formatLogName('main', 'id'))).toEqual({ parents: ['main'], id: 'id', token: undefined })
})

test('the prefix that the Go SDK adds to a log stream name is ignored', () => {
  for (const instance of ['', 'main', 'a/b']) {
    const { stdout } = operationLogNames(formatOperationName({ instance, id: 'op-1' }))
    const theirs = `${instance === '' ? '' : `${instance}/`}logstreams/${stdout}`
    const operation = stdout.replace('/logstreams/stdout', '')
    expect(parseLogName(theirs)?.parents).toContain(operation)
    expect(parseLogName(theirs)?.id).toBe('stdout')
  }
})

test('a log stream name with a prefix cannot refer to another instance', () => {
  expect(parseLogName('a/logstreams/b/operations/op-1/logstreams/stdout')?.parents).toEqual([
    'a/logstreams/b/operations/op-1',
  ])
})

test('names of blobs and uploads are not log stream names, even with "logstreams" in them', () => {
  for (const name of [
    `logstreams/blobs/${'1'.repeat(64)}/7`,
    `a/logstreams/compressed-blobs/zstd/${'1'.repeat(64)}/7`,
    `uploads/id/blobs/${'1'.repeat(64)}/7/logstreams/x`,
    'logstreams',
    'logstreams/',
    'logstreams/a/',
    'logstreams/a/b/c',
    'a/mylogstreams/b',
  ])
    expect(parseLogName(name), name).toBeUndefined()
})

test('CreateLogStreamRequest and LogStream round-trip', () => {
  expect(createLogStreamFromProto(createLogStreamToProto('a/b'))).toBe('a/b')
  expect(createLogStreamFromProto(createLogStreamToProto('a/b/'))).toBe('a/b')
  const names = { name: 'logstreams/1', writeName: 'logstreams/1/2' }
  expect(logStreamFromProto(logStreamToProto(names))).toEqual(names)
})

test('a parent that is not an instance name is refused', () => {
  for (const parent of ['a//b', '../a', 'a/blobs', 'operations/1', 'a\nb'])
    expect(() => createLogStreamFromProto(createLogStreamToProto(parent)), parent).toThrow('the parent of a log')
  expect(() => createLogStreamFromProto(Buffer.from([0x0a, 5, 1]))).toThrow('malformed')
})
