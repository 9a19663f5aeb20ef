import { expect, test } from 'vitest'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { type ResultParts, resultBytes } from '../../wire/reapi/reapi-messages.fixture.ts'
import type { Upstream } from './upstream.ts'
import { upstreamActionCache } from './upstream-action-cache.ts'

const action = { fn: 'sha256', hash: 'ab'.repeat(32), size: 142 } as const
const { hash, size } = digestOf('sha256', Buffer.from('content'))
const digest = { hash, sizeBytes: size }
const files = (...paths: string[]): ResultParts => ({ outputFiles: paths.map((path) => ({ path, digest })) })

/** The result that a client of this server gets when the upstream has this one. */
function served(parts: ResultParts): Promise<Uint8Array | undefined> {
  const upstream: Pick<Upstream, 'ask'> = { ask: async (_path, _request, read) => read(resultBytes(parts)) }
  return upstreamActionCache({ upstream: upstream as Upstream, instanceThere: (name) => name }).get('', action)
}

test.each<[string, ResultParts]>([
  ['a path outside', files('../x')],
  ['an absolute path', files('/x')],
  ['a NUL in a path', files('a\0b')],
  ['an empty path', files('')],
  ['a path that comes twice', files('a', './a')],
  ['a file below a symlink', { ...files('a/b'), outputSymlinks: [{ path: 'a', target: '/etc' }] }],
  ['stdout that is not its digest', { stdoutRaw: Buffer.from('another'), stdoutDigest: digest }],
])('an upstream result with %s is a cache miss', async (_, parts) => {
  expect(await served(parts)).toBeUndefined()
})

test('a valid upstream result is served unchanged', async () => {
  expect(await served(files('a/b'))).toEqual(resultBytes(files('a/b')))
})
