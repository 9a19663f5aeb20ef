import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type EventEmitter, once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runningServer } from '../../testing/running-server.ts'
import { cas, digestOf, fresh, lastDigest, made, random, target, windlass } from './cas.fixture.ts'

describe('files', () => {
  test.each([0, 1, 100_000, 5_000_000])('a file of %i bytes is restored', async (size) => {
    const bytes = random.bytes(size)
    const path = made(bytes)
    expect(await cas(['put', path])).toEqual({ code: 0, out: `${digestOf(bytes)} ${path}\n`, err: '' })
    const back = fresh()
    expect(await cas(['get', digestOf(bytes), '-o', back])).toEqual({ code: 0, out: '', err: '' })
    expect(readFileSync(back).equals(bytes)).toBe(true)
  })

  test('a file of 64 MiB is restored', async () => {
    const bytes = Buffer.concat([random.bytes(32 * 1024 * 1024), Buffer.alloc(32 * 1024 * 1024, 'windlass ')])
    expect((await cas(['put', made(bytes)])).code).toBe(0)
    const back = fresh()
    expect((await cas(['get', digestOf(bytes), '-o', back])).code).toBe(0)
    expect(readFileSync(back).equals(bytes)).toBe(true)
  })

  test('--compress zstd stores blobs compressed, and they are restored', async () => {
    const own = await runningServer(fresh())
    const at = { at: own.target }
    const blobs = [random.text(50_000), Buffer.from(random.text(9_000_000)), random.bytes(300)]
    expect((await cas(['put', ...blobs.map(made), '--compress', 'zstd'], at)).code).toBe(0)
    expect(JSON.parse((await cas(['stat', '--json'], at)).out).liveBytes).toBeLessThan(2_000_000)
    for (const bytes of blobs) {
      const back = fresh()
      expect((await cas(['get', digestOf(bytes), '-o', back], at)).code).toBe(0)
      expect(readFileSync(back).equals(bytes)).toBe(true)
    }
    await own.stop()
  })

  test('several files are uploaded, and blobs that the server has are not sent', async () => {
    const [one, two, three] = [random.bytes(1000), random.text(70_000), random.bytes(1_000_000)] as const
    await cas(['put', made(one)])
    const paths = [one, two, three, three].map(made)
    const { out } = await cas(['put', ...paths, '--json', '--compress', 'zstd'])
    expect(JSON.parse(out)).toEqual({
      entries: [one, two, three, three].map((bytes, i) => {
        const [hash, size] = digestOf(bytes).split('/')
        return { path: paths[i], kind: 'file', hash, size: Number(size) }
      }),
      uploaded: { blobs: 2, bytes: 1_070_000 },
      held: { blobs: 2, bytes: 1_001_000 },
    })
  })

  test('--digest-function selects another hash', async () => {
    const bytes = random.bytes(2_000_000)
    const hash = createHash('sha512').update(bytes).digest('hex')
    const { out } = await cas(['put', made(bytes), '--digest-function', 'sha512'])
    expect(lastDigest(out)).toBe(`${hash}/2000000`)
    const back = fresh()
    await cas(['get', lastDigest(out), '--digest-function', 'sha512', '-o', back])
    expect(readFileSync(back).equals(bytes)).toBe(true)
    expect((await cas(['stat', digestOf(bytes)])).code).toBe(1)
    expect((await cas(['put', made(bytes), '--digest-function', 'blake3'])).code).toBe(0)
  })

  test.each([10, 6_000_000])('%i bytes are uploaded from stdin and downloaded to stdout', async (size) => {
    const bytes = Buffer.from(random.bytes(size))
    const put = spawn(windlass, ['cas', 'put', '-', '--server', target()])
    put.stdin.end(bytes)
    const printed = Buffer.concat(await put.stdout.toArray()).toString()
    expect(printed).toBe(`${digestOf(bytes)} -\n`)
    const { stdout } = await promisify(execFile)(windlass, ['cas', 'get', digestOf(bytes), '-s', target()], {
      encoding: 'buffer',
      maxBuffer: 10_000_000,
    })
    expect(stdout.equals(bytes)).toBe(true)
  })

  test('a closed pipe ends the download without an error message', async () => {
    const bytes = random.bytes(30_000_000)
    await cas(['put', made(bytes)])
    const pipe = `"$0" cas get ${digestOf(bytes)} -s ${target()} | head -c 10 | wc -c; exit "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', pipe, windlass])
    expect([stdout.trim(), stderr]).toEqual(['10', ''])
  })
})

describe('failed downloads', () => {
  test('SIGINT leaves no file, with exit code 130', async () => {
    const bytes = random.bytes(40_000_000)
    await cas(['put', made(bytes)])
    const parent = fresh()
    mkdirSync(parent)
    const onErr = (signals: EventEmitter) => signals.emit('SIGINT', 'SIGINT')
    const { code } = await cas(['get', digestOf(bytes), '-o', join(parent, 'x')], { isTerminal: true, onErr })
    expect([code, readdirSync(parent)]).toEqual([130, []])
  })

  test('SIGKILL leaves only a hidden .part file', async () => {
    const bytes = random.bytes(60_000_000)
    await cas(['put', made(bytes)])
    const parent = fresh()
    mkdirSync(parent)
    const child = spawn(windlass, ['cas', 'get', digestOf(bytes), '-s', target(), '-o', join(parent, 'x')])
    while (readdirSync(parent).length === 0 && child.exitCode === null) await setTimeout(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(readdirSync(parent)).toEqual([expect.stringMatching(/^\.x\.[0-9a-f]{8}\.part$/)])
  })

  test('a missing blob keeps the existing file', async () => {
    const path = made(Buffer.from('old'))
    const { code, err } = await cas(['get', `${'ab'.repeat(32)}/5`, '-o', path])
    expect([code, err]).toEqual([1, `windlass: the server has no blob ${'ab'.repeat(32)}/5\n`])
    expect(readFileSync(path, 'utf8')).toBe('old')
  })
})
