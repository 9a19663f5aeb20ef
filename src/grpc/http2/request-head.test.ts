import { describe, expect, test } from 'vitest'
import type { HeaderPair } from '../header-text.ts'
import { HpackDecoder } from '../hpack/decoder.ts'
import type { HeaderList } from '../hpack/header-field.ts'
import { literals } from '../server/response-blocks.ts'
import { areTrailersSound, type RequestHead, responseStatus, understandRequest } from './request-head.ts'

/** Header lists as they come from the wire: the decoder has already classified each field. */
function list(...pairs: readonly HeaderPair[]): HeaderList {
  const block = literals(pairs)
  return new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 65_536 }).decode(block, 0, block.length)
}

const METHOD: HeaderPair = [':method', 'POST']
const SCHEME: HeaderPair = [':scheme', 'http']
const PATH: HeaderPair = [':path', '/a.B/C']
const AUTHORITY: HeaderPair = [':authority', 'here']
const WHOLE = [METHOD, SCHEME, PATH, AUTHORITY]

const understand = (...pairs: readonly HeaderPair[]): RequestHead | undefined => understandRequest(list(...pairs))

describe('understandRequest', () => {
  test('returns method, path, authority, content type, timeout, encoding and content length', () => {
    expect(
      understand(
        ...WHOLE,
        ['te', 'trailers'],
        ['content-type', 'application/grpc+proto'],
        ['grpc-timeout', '10S'],
        ['grpc-encoding', 'gzip'],
        ['content-length', '42'],
        ['x-user', 'someone'],
      ),
    ).toMatchObject({
      method: 'POST',
      path: '/a.B/C',
      authority: 'here',
      contentType: 'application/grpc+proto',
      timeout: '10S',
      encoding: 'gzip',
      contentLength: 42,
    })
  })

  test('needs only method, scheme and path, in any order', () => {
    expect(understand(PATH, SCHEME, METHOD)).toMatchObject({
      authority: '',
      contentType: '',
      timeout: undefined,
      contentLength: -1,
    })
  })

  test('returns the same object for the same header list', () => {
    const same = list(...WHOLE)
    expect(understandRequest(same)).toBe(understandRequest(same))
  })

  test.each([
    ['lacks its method', [SCHEME, PATH]],
    ['lacks its scheme', [METHOD, PATH]],
    ['lacks its path', [METHOD, SCHEME]],
    ['has an empty path', [METHOD, SCHEME, [':path', '']]],
    ['names its path twice', [...WHOLE, PATH]],
    ['names its authority twice', [...WHOLE, AUTHORITY]],
    ['has a status', [...WHOLE, [':status', '200']]],
    ['has a pseudo-header nobody knows', [...WHOLE, [':protocol', 'x']]],
    ['has a pseudo-header behind a field', [METHOD, SCHEME, ['x-a', 'b'], PATH]],
    ['has a name in upper case', [...WHOLE, ['X-A', 'b']]],
    ['has an empty name', [...WHOLE, ['', 'b']]],
    ['has a field of HTTP/1', [...WHOLE, ['connection', 'close']]],
    ['wants more than trailers', [...WHOLE, ['te', 'gzip']]],
    ['has a line break in a value', [...WHOLE, ['x-a', 'b\r\nc']]],
    ['has a NUL in a value', [...WHOLE, ['x-a', 'b\0']]],
    ['has a length that is no number', [...WHOLE, ['content-length', 'ten']]],
    ['has two lengths that differ', [...WHOLE, ['content-length', '1'], ['content-length', '2']]],
  ] satisfies [string, HeaderPair[]][])('returns undefined when the request %s', (_name, pairs) => {
    expect(understand(...pairs)).toBeUndefined()
  })

  test('accepts a repeated content-length with the same value', () => {
    expect(understand(...WHOLE, ['content-length', '7'], ['content-length', '7'])?.contentLength).toBe(7)
  })
})

describe('areTrailersSound', () => {
  test('accepts any regular fields, or none', () => {
    expect(areTrailersSound(list())).toBe(true)
    expect(areTrailersSound(list(['x-a', 'b'], ['grpc-status', '0'], ['content-type', 'text/plain']))).toBe(true)
  })

  test.each([
    ['pseudo-headers', [':path', '/']],
    ['malformed fields', ['X-A', 'b']],
    ['fields of HTTP/1', ['upgrade', 'x']],
  ] satisfies [string, HeaderPair][])('rejects %s', (_name, pair) => {
    expect(areTrailersSound(list(['x-a', 'b'], pair))).toBe(false)
  })
})

describe('responseStatus', () => {
  test('is the :status of the response headers', () => {
    expect(responseStatus(list([':status', '404'], ['x-a', 'b']))).toBe(404)
  })

  test('is read despite a malformed field', () => {
    expect(responseStatus(list([':status', '200'], ['x-a', 'blank at the end ']))).toBe(200)
  })

  test('is undefined without :status', () => {
    expect(responseStatus(list(['x-a', 'b']))).toBeUndefined()
  })

  test.each([
    ['two of them', [':status', '200']],
    ['a path', [':path', '/']],
    ['a pseudo-header nobody knows', [':x', 'y']],
  ] satisfies [string, HeaderPair][])('is undefined when there is also %s', (_name, pair) => {
    expect(responseStatus(list([':status', '200'], pair))).toBeUndefined()
  })
})
