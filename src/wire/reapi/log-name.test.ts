import { expect, test } from 'vitest'
import { formatLogName, operationLogNames, parseLogName } from './log-name.ts'
import { createLogStreamFromProto, createLogStreamToProto, logStreamFromProto, logStreamToProto } from './log-stream.ts'

test('what an operation prints has two names, below its own', () => {
  const { stdout, stderr } = operationLogNames({ instance: 'a/b', id: 'op-1' })
  expect([stdout, stderr]).toEqual(['a/b/operations/op-1/logstreams/stdout', 'a/b/operations/op-1/logstreams/stderr'])
  expect(parseLogName(stdout)).toEqual({ parents: ['a/b/operations/op-1'], id: 'stdout', token: undefined })
})

test('a name to write has a token behind it', () => {
  expect(parseLogName(formatLogName('', 'id', 'secret'))).toEqual({ parents: [''], id: 'id', token: 'secret' })
  expect(parseLogName(formatLogName('main', 'id'))).toEqual({ parents: ['main'], id: 'id', token: undefined })
})

test('what the Go SDK puts before a name is read as if it were not there', () => {
  for (const instance of ['', 'main', 'a/b']) {
    const { stdout } = operationLogNames({ instance, id: 'op-1' })
    const theirs = `${instance === '' ? '' : `${instance}/`}logstreams/${stdout}`
    const operation = stdout.replace('/logstreams/stdout', '')
    expect(parseLogName(theirs)?.parents).toContain(operation)
    expect(parseLogName(theirs)?.id).toBe('stdout')
  }
})

test('one instance cannot be taken for another by a prefix', () => {
  expect(parseLogName('a/logstreams/b/operations/op-1/logstreams/stdout')?.parents).toEqual([
    'a/logstreams/b/operations/op-1',
  ])
})

test('blobs and uploads are no logs, though their instance or their trailing words are called so', () => {
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

test('the messages of the service go there and back', () => {
  expect(createLogStreamFromProto(createLogStreamToProto('a/b'))).toBe('a/b')
  expect(createLogStreamFromProto(createLogStreamToProto('a/b/'))).toBe('a/b')
  const names = { name: 'logstreams/1', writeName: 'logstreams/1/2' }
  expect(logStreamFromProto(logStreamToProto(names))).toEqual(names)
})

test('a parent that is no instance is invalid', () => {
  for (const parent of ['a//b', '../a', 'a/blobs', 'operations/1', 'a\nb'])
    expect(() => createLogStreamFromProto(createLogStreamToProto(parent)), parent).toThrow('the parent of a log')
  expect(() => createLogStreamFromProto(Buffer.from([0x0a, 5, 1]))).toThrow('malformed')
})
