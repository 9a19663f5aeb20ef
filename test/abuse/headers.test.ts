import { describe, expect, test } from 'vitest'
import type { HeaderPair } from '../../src/grpc/header-text.ts'
import { ERROR, FLAG } from '../../src/grpc/http2/wire-format.ts'
import { literals } from '../../src/grpc/server/response-blocks.ts'
import { heldBytes } from '../../src/testing/held-memory.ts'
import { continuation, headers, longHeaders, requestBlock } from '../../src/testing/http2-frames.ts'
import { PATHS } from './abuse-service.ts'
import { abusedServer } from './abused-server.ts'

const END = FLAG.endHeaders | FLAG.endStream

describe('header blocks in CONTINUATION frames', () => {
  const pieces = { empty: 0, 'of one byte': 1, large: 16_384 }

  test.each(Object.entries(pieces))(
    'of 20,000 frames that are %s close the connection with ENHANCE_YOUR_CALM',
    async (_name, size) => {
      await using server = await abusedServer()
      const attacker = await server.connect()
      const piece = continuation(1, Buffer.alloc(size, 0x82))
      const flood = [headers(1, requestBlock(PATHS.echo), 0), ...new Array<Buffer>(20_000).fill(piece)]
      await attacker.sendAll(flood)
      expect(await server.ended()).toMatchObject({ code: ERROR.enhanceYourCalm, flood: 'continuations' })
      await server.expectServing()
    },
  )

  test('of 40 KB are accepted', async () => {
    await using server = await abusedServer()
    const client = await server.connect()
    client.send(longHeaders(1, requestBlock(PATHS.echo, ['x-long', 'v'.repeat(40_000)]), FLAG.endStream))
    await client.answer(1)
    expect(client.field(1, ':status')).toBe('200')
    await server.expectServing()
  })
})

describe('a header list above the size limit', () => {
  const expect431 = async (blocks: readonly Buffer[]) => {
    await using server = await abusedServer()
    const attacker = await server.connect()
    const before = await heldBytes()
    for (const [i, block] of blocks.entries()) {
      attacker.send(longHeaders(2 * i + 1, block, FLAG.endStream))
      await attacker.answer(2 * i + 1)
    }
    expect(attacker.field(2 * blocks.length - 1, ':status')).toBe('431')
    expect((await heldBytes()) - before).toBeLessThan(16 << 20)
    attacker.send(headers(10_001, requestBlock('/none/None'), END))
    await attacker.answer(10_001)
    expect(attacker.field(10_001, 'grpc-status')).toBe('12')
    await server.expectServing()
  }

  test('is refused with 431 when it has many tiny fields', async () => {
    const tiny = new Array<HeaderPair>(3000).fill(['a', ''])
    await expect431([requestBlock(PATHS.echo, ...tiny)])
  })

  test('is refused with 431 when it has few large fields', async () => {
    const large = new Array<HeaderPair>(3).fill(['x-large', 'v'.repeat(21_740)])
    await expect431([requestBlock(PATHS.echo, ...large)])
  })

  test('is refused with 431 when one-byte references expand to a large HPACK table entry', async () => {
    const insertion = Buffer.concat([Buffer.from([0x40]), literals([['x-bomb', 'b'.repeat(4000)]]).subarray(1)])
    const references = Buffer.alloc(16_000, 0x80 | 62)
    const bomb = Buffer.concat([requestBlock(PATHS.echo), references])
    await expect431([Buffer.concat([requestBlock('/none/None'), insertion]), ...new Array<Buffer>(200).fill(bomb)])
  })

  test('is refused with 431 a thousand times without growing memory', async () => {
    const tiny = new Array<HeaderPair>(3000).fill(['a', 'b'])
    await expect431(new Array<Buffer>(1000).fill(requestBlock(PATHS.echo, ...tiny)))
  })
})
