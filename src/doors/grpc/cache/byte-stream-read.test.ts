import { brotliDecompressSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { STATUS } from '../../../grpc/status.ts'
import { digestOf } from '../../../storage/blobs.fixture.ts'
import { type TestDoor, testDoor } from './door.fixture.ts'

const READ = 'ByteStream.Read'
const blob = Buffer.from('a blob that is read in many ways '.repeat(9))
const { hash, size } = digestOf(blob)
const NAME = `main/blobs/${hash}/${size}`

async function holding(): Promise<TestDoor> {
  const door = testDoor()
  await door.put(blob)
  return door
}

async function read({ answers }: TestDoor, request: Record<string, string>): Promise<Buffer> {
  const messages = await answers<{ data?: string }>(READ, { resourceName: NAME, ...request })
  return Buffer.concat(messages.map(({ data = '' }) => Buffer.from(data, 'base64')))
}

describe('ByteStream.Read', () => {
  test('a read returns the bytes from the offset to the limit or the end of the blob', async () => {
    const door = await holding()
    expect(await read(door, {})).toEqual(blob)
    expect(await read(door, { readOffset: '7' })).toEqual(blob.subarray(7))
    expect(await read(door, { readOffset: '7', readLimit: '5' })).toEqual(blob.subarray(7, 12))
    expect(await read(door, { readLimit: String(size + 1) })).toEqual(blob)
    expect(await read(door, { readOffset: String(size) })).toHaveLength(0)
  })

  test.each([
    ['past the end', { readOffset: String(size + 1) }, STATUS.outOfRange],
    ['below zero', { readOffset: '-1' }, STATUS.invalidArgument],
    ['with a limit below zero', { readLimit: '-1' }, STATUS.invalidArgument],
    ['of another size', { resourceName: `blobs/${hash}/${size - 1}` }, STATUS.notFound],
    ['of nothing that is here', { resourceName: `blobs/${'0'.repeat(64)}/1` }, STATUS.notFound],
    ['for writing', { resourceName: `uploads/id/blobs/${hash}/${size}` }, STATUS.invalidArgument],
    ['with more after the size', { resourceName: `${NAME}/more` }, STATUS.invalidArgument],
    ['as something unknown', { resourceName: `compressed-blobs/lzma/${hash}/${size}` }, STATUS.invalidArgument],
  ])('a read %s is refused', async (_, request, code) => {
    await expect(read(await holding(), request)).rejects.toMatchObject({ code })
  })
})

describe('compressed ByteStream.Read', () => {
  const nameAs = (compressor: string): string => NAME.replace('/blobs/', `/compressed-blobs/${compressor}/`)

  test.each([
    ['zstd', zstdDecompressSync],
    ['deflate', inflateRawSync],
    ['brotli', brotliDecompressSync],
  ])('a %s read decompresses to the blob, from the offset on', async (compressor, unpack) => {
    const door = await holding()
    expect(unpack(await read(door, { resourceName: nameAs(compressor) }))).toEqual(blob)
    const rest = await read(door, { resourceName: nameAs(compressor), readOffset: '100' })
    expect(unpack(rest)).toEqual(blob.subarray(100))
  })

  test('a blob stored as zstd is sent unchanged to a zstd read', async () => {
    const door = testDoor()
    const kept = zstdCompressSync(blob)
    const writer = door.instance.uploads.write(digestOf(blob), 'zstd')
    await writer.write(kept)
    await writer.commit()
    expect(await read(door, { resourceName: nameAs('zstd') })).toEqual(kept)
    expect(await read(door, {})).toEqual(blob)
    expect(zstdDecompressSync(await read(door, { resourceName: nameAs('zstd'), readOffset: '3' }))).toEqual(
      blob.subarray(3),
    )
  })

  test('a compressed read with a limit is refused with INVALID_ARGUMENT', async () => {
    const limited = read(await holding(), { resourceName: nameAs('zstd'), readLimit: '5' })
    await expect(limited).rejects.toMatchObject({ code: STATUS.invalidArgument })
  })
})
