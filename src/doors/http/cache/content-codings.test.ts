import { expect, test } from 'vitest'
import { acceptsZstd } from './request.ts'

test.each(['zstd', 'gzip, zstd', 'ZSTD;q=0.5', 'br;q=1.0, zstd ; q=0.001', 'zstd;q=1'])(
  'Accept-Encoding "%s" accepts zstd',
  (header) => {
    expect(acceptsZstd(header)).toBe(true)
  },
)

test.each([undefined, '', '*', 'identity', 'gzip, br', 'zstd;q=0', 'zstd; q=0.000', 'zstdx', 'x-zstd'])(
  'Accept-Encoding "%s" does not accept zstd',
  (header) => {
    expect(acceptsZstd(header)).toBe(false)
  },
)
