import { describe, expect, test } from 'vitest'
import { runningServer } from '../../testing/running-server.ts'
import { cas, digestOf, fresh, made, random } from './cas.fixture.ts'

describe('stat', () => {
  test('each blob is listed as held or absent, with its forms', async () => {
    const bytes = random.bytes(100)
    await cas(['put', made(bytes)])
    const ghost = `${'cd'.repeat(32)}/9`
    const all = await cas(['stat', digestOf(bytes)])
    expect(all).toEqual({ code: 0, out: `held    ${digestOf(bytes)}  as identity, zstd, deflate, brotli\n`, err: '' })
    const some = await cas(['stat', digestOf(bytes), ghost])
    expect([some.code, some.out]).toEqual([1, `${all.out}absent  ${ghost}\n`])
    const json = await cas(['stat', ghost, '--json'])
    expect([json.code, JSON.parse(json.out)]).toEqual([1, { blobs: [{ digest: ghost, held: false, forms: [] }] }])
  })

  test('without a digest, the figures of the storage are printed', async () => {
    await cas(['put', made(random.bytes(100))])
    const { code, out } = await cas(['stat'])
    expect(code).toBe(0)
    expect(out).toMatch(/^blobs +[\d,]+\nbytes +[\d.]+ [kMG]?B\ndisk +.* of 34\.4 GB \(.*%\), [\d,]+ files\n/)
    const figures = JSON.parse((await cas(['stat', '--json'])).out)
    expect(figures).toMatchObject({ limitBytes: 32 * 1024 ** 3, pinnedBlobs: 0, isReclaiming: false })
    expect(figures.blobs).toBeGreaterThan(0)
    expect(figures.oldestTouchSeconds).toBeTypeOf('number')
  })
})

describe('gc', () => {
  const SMALL = { STORAGE_CAS_MAX_BYTES: '134217728', STORAGE_CAS_PACK_BYTES: '1048576' }

  /** A separate server with twenty files that are one hour old, and ten new ones. */
  async function grown() {
    const own = await runningServer(fresh(), SMALL)
    const put = async (count: number) => {
      const blobs = Array.from({ length: count }, () => random.bytes(500_000))
      await cas(['put', ...blobs.map(made)], { at: own.target })
      return blobs.map(digestOf)
    }
    const old = await put(20)
    own.advance(3600_000)
    const fresher = await put(10)
    const held = async (digests: readonly string[]) => {
      const { out } = await cas(['stat', '--json', ...digests], { at: own.target })
      return JSON.parse(out).blobs.filter((blob: { held: boolean }) => blob.held).length
    }
    return { own, old, fresh: fresher, held, at: { at: own.target } }
  }

  test('--older-than evicts older blobs, and keeps newer ones', async () => {
    const { own, old, fresh, held, at } = await grown()
    const before = JSON.parse((await cas(['stat', '--json'], at)).out).diskBytes
    const dry = await cas(['gc', '--older-than', '30m', '--dry-run'], at)
    expect(dry.out).toMatch(/^would evict 20 blobs and free about [\d.]+ MB of [\d.]+ MB\n$/)
    const { code, out } = await cas(['gc', '--older-than', '30m', '--json'], at)
    const done = JSON.parse(out)
    expect([code, done.evictedBlobs, done.dryRun]).toEqual([0, 20, false])
    expect(done.freedBytes).toBeGreaterThan(8_000_000)
    expect(before - done.diskBytes).toBe(done.freedBytes)
    expect([await held(old), await held(fresh)]).toEqual([0, 10])
    expect(JSON.parse((await cas(['stat', '--json'], at)).out)).toMatchObject({ evictedBlobs: 20, blobs: 10 })
    await own.stop()
  })

  test('--to frees down to a size, least recently used blobs first', async () => {
    const { own, fresh, held, at } = await grown()
    const { code, out, err } = await cas(['gc', '--to', '7MB'], at)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^evicted \d+ blobs, freed [\d.]+ MB(, moved [\d.]+ [kM]?B)?; [\d.]+ MB in use\n$/)
    expect(JSON.parse((await cas(['stat', '--json'], at)).out).diskBytes).toBeLessThanOrEqual(7_000_000)
    expect(await held(fresh)).toBe(10)
    const rest = await cas(['gc', '--to', '0'], at)
    expect(rest.out).toContain('; 0 B in use')
    expect(await held(fresh)).toBe(0)
    await own.stop()
  })

  test('without a goal, no blob is evicted', async () => {
    const { own, old, fresh, held, at } = await grown()
    expect((await cas(['gc'], at)).out).toMatch(/^evicted 0 blobs, freed 0 B; [\d.]+ MB in use\n$/)
    expect(await held([...old, ...fresh])).toBe(30)
    await own.stop()
  })

  test('a terminal gets the progress', async () => {
    const { own, at } = await grown()
    const { err } = await cas(['gc', '--to', '1MB'], { ...at, isTerminal: true })
    expect(err).toMatch(/[\d.]+ [kM]?B freed, [\d.]+ MB in use/)
    await own.stop()
  })
})
