import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../app/process/clock.ts'
import { honest } from '../../check/reapi/broken/honest.ts'
import { EVERYTHING } from '../../check/reapi/broken/profile.ts'
import { serve } from '../../check/reapi/broken/serve.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { runningServer } from '../../testing/running-server.ts'
import { cas, digestOf, fresh, made, random } from './cas.fixture.ts'

describe('messages of windlass cas', () => {
  test('a terminal gets a progress bar and the number of bytes sent', async () => {
    const { out, err } = await cas(['put', made(random.bytes(3_000_000))], { isTerminal: true })
    expect(out).toMatch(/^[0-9a-f]{64}\/3000000 /)
    expect(err).toMatch(/[█░]{20} \d+% {2}\d of 1 blobs {2}[\d.]+ [kM]?B of 3\.00 MB/)
    expect(err.split('\r\u001b[K').at(-1)).toBe('sent 1 blobs (3.00 MB); the server had 0 (0 B) already\n')
  })

  test.each([['stat'], ['gc'], ['get', `${'ab'.repeat(32)}/5`], ['put', import.meta.filename]])(
    'no server at the address: %s prints what to do next',
    async (...argv) => {
      const { code, out, err } = await cas(argv, { at: 'grpc://127.0.0.1:1' })
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain('windlass: grpc://127.0.0.1:1: cannot connect to 127.0.0.1:1: ')
      expect(err).toContain(
        'windlass: is a server running there? "windlass server" starts one, and --server names another\n',
      )
    },
  )

  test.each([
    [['get', 'abc'], '"abc" is not a digest: it must be hash/size'],
    [['get', 'ABC/5'], 'is not a sha256 hash: it must be 64 lower-case hex digits'],
    [['get', `${'ab'.repeat(32)}/5`, '--dir'], '-o is required: name the directory to create'],
    [['get', `${'ab'.repeat(32)}/5`, '--json'], '--json requires -o'],
    [['get', `${'ab'.repeat(32)}/5`, '-o', '/'], '-o: / is a directory (--dir fetches one)'],
    [['get'], "missing required argument 'digest'"],
    [['put'], "missing required argument 'path'"],
    [['put', 'x', '--compress', 'lzma'], 'Allowed choices are zstd'],
    [['put', 'x', '--digest-function', 'crc32'], 'Allowed choices are sha256'],
    [['put', 'x', '--server', 'ftp://x'], '--server: ftp://x is none of'],
    [['put', 'x', '--instance', 'a/blobs'], '--instance: the name has the reserved segment "blobs"'],
    [['stat', '--ca', import.meta.filename], '--ca, --cert and --key are for grpcs:// and https:// servers'],
    [['stat', '--header', 'nothing'], '--header: nothing is not name=value'],
    [['gc', '--to', '10 apples'], '--to: "10 apples" is no size'],
    [['gc', '--older-than', '7'], '--older-than: "7" is no time'],
    [['gc', '--to', '1GB', '--older-than', '7d'], '--to and --older-than: one or the other'],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['gc', '--olderthan', '7d'], "unknown option '--olderthan'; did you mean --older-than?"],
  ])('a wrong command line ends with exit code 2: %j', async (argv, words) => {
    const { code, out, err } = await cas(argv, { at: '' })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`windlass: `)
    expect(err).toContain(words)
  })

  test('a missing file ends with exit code 1', async () => {
    expect(await cas(['put', '/no/such/file'])).toEqual({
      ...{ code: 1, out: '' },
      err: 'windlass: /no/such/file: there is no such file or directory\n',
    })
  })

  test.each(['put', 'get', 'stat', 'gc'])('cas %s --help has examples and exit codes', async (verb) => {
    const { code, out, err } = await cas([verb, '--help'], { at: '' })
    expect([code, err]).toEqual([0, ''])
    for (const part of [`Usage: windlass cas ${verb}`, 'Exit codes:', `  windlass cas ${verb}`])
      expect(out).toContain(part)
  })
})

describe('connections to a server', () => {
  test('TLS with a client certificate connects, and without one fails', async () => {
    const authority = createAuthority()
    const ours = authority.server()
    const { cert, key } = authority.client('ada')
    const file = (text: string) => made(Buffer.from(text))
    const ca = file(authority.ca)
    const own = await runningServer(fresh(), {
      SERVER_TLS_CERT_FILE: file(ours.cert),
      SERVER_TLS_KEY_FILE: file(ours.key),
      SERVER_TLS_CLIENT_CA_FILE: ca,
    })
    const at = { at: own.target.replace('grpc://127.0.0.1', 'grpcs://localhost') }
    const path = made(random.bytes(1000))
    expect((await cas(['put', path, '--ca', ca, '--cert', file(cert), '--key', file(key)], at)).code).toBe(0)
    expect(await cas(['put', path, '--ca', ca], at)).toMatchObject({ code: 1, out: '' })
    expect(await cas(['put', path], at)).toMatchObject({ code: 1, out: '' })
    await own.stop()
  })

  test('a socket file connects', async () => {
    const socket = fresh()
    const own = await runningServer(fresh(), { SERVER_ADDRESS: `unix:${socket}` })
    expect((await cas(['put', made(random.bytes(1000))], { at: `unix:${socket}` })).code).toBe(0)
    await own.stop()
  })
})

test('put to a full server gives exit code 1, with the reason', async () => {
  const own = await runningServer(fresh(), { STORAGE_CAS_MAX_BYTES: '67108864' })
  const path = made(random.bytes(80_000_000))
  const { code, err } = await cas(['put', path], { at: own.target })
  expect(code).toBe(1)
  expect(err).toMatch(/^windlass: grpc:.*: the server has no room: storage for blobs is exhausted/)
  await own.stop()
})

test('put and get work with another REAPI server, and stat reports that the server does not offer it', async () => {
  const { server, address } = await serve(honest(EVERYTHING).methods, {
    timing: { now: systemClock.monotonic, after: systemClock.after },
  })
  const at = { at: 'path' in address ? '' : `grpc://${address.host}:${address.port}` }
  const bytes = random.bytes(700_000)
  expect((await cas(['put', made(bytes)], at)).code).toBe(0)
  const back = fresh()
  expect((await cas(['get', digestOf(bytes), '-o', back], at)).code).toBe(0)
  expect(readFileSync(back).equals(bytes)).toBe(true)
  const { code, err } = await cas(['stat'], at)
  expect([code, err]).toEqual([1, expect.stringContaining(': the server does not offer this (')])
  server.close()
})
