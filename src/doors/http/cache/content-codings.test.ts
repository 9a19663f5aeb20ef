import { expect, test } from 'vitest'
import { acceptsZstd } from './content-codings.ts'

test.each(['zstd', 'gzip, zstd', 'ZSTD;q=0.5', 'br;q=1.0, zstd ; q=0.001', 'zstd;q=1'])('"%s" takes zstd', (header) => {
  expect(acceptsZstd(header)).toBe(true)
})

test.each([undefined, '', '*', 'identity', 'gzip, br', 'zstd;q=0', 'zstd; q=0.000', 'zstdx', 'x-zstd'])(
  '"%s" does not',
  (header) => {
    expect(acceptsZstd(header)).toBe(false)
  },
)
