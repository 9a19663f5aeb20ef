import { describe, expect, test } from 'vitest'
import { imageName } from './image-name.ts'

const HASH = 'ab'.repeat(32)

describe('image name', () => {
  test.each([
    ['debian', 'docker.io/library/debian:latest'],
    ['docker://debian:12', 'docker.io/library/debian:12'],
    ['docker.io/library/debian:12', 'docker.io/library/debian:12'],
    ['docker://quay.io/biocontainers/bwa:0.7.17--h5bf99c6_8', 'quay.io/biocontainers/bwa:0.7.17--h5bf99c6_8'],
    ['me/tool', 'docker.io/me/tool:latest'],
    ['localhost/tool:1', 'localhost/tool:1'],
    ['127.0.0.1:5000/a/b/c', '127.0.0.1:5000/a/b/c:latest'],
    ['GHCR.io/x/y:Z', 'ghcr.io/x/y:Z'],
    [`debian@sha256:${HASH}`, `docker.io/library/debian@sha256:${HASH}`],
    [`debian:12@sha256:${HASH}`, `docker.io/library/debian:12@sha256:${HASH}`],
  ])('%s is read as %s', (words, text) => {
    expect(imageName(words)).toMatchObject({ kind: 'registry', text })
  })

  test('an absolute path names an image file of the worker', () => {
    expect(imageName('/images/tool.sif')).toEqual({ kind: 'path', path: '/images/tool.sif', text: '/images/tool.sif' })
  })

  test.each([
    '',
    'docker://',
    '-v',
    '--privileged',
    'a b',
    'a\nb',
    'a\0b',
    'Debian',
    '../../../etc',
    './image.sif',
    'a/../b',
    'a//b',
    'a:',
    'a:b:c',
    'a@sha256:short',
    `a@md5:${HASH}`,
    `a@sha256:${HASH}@sha256:${HASH}`,
    'http://127.0.0.1/x.sif',
    'https://example.org/x.sif',
    'oras://x/y',
    'library://x/y',
    'docker-daemon:x:y',
    'docker-archive:/etc/shadow',
    'docker://docker://x',
    'a/b?fromSrc=-',
    'a/b#c',
    'a/%2e%2e/b',
    `x/${'a'.repeat(600)}`,
  ])('%j is refused', (words) => {
    expect(() => imageName(words)).toThrow(/container image/)
  })
})
