import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, credentials } from '@grpc/grpc-js'
import { afterAll, describe, expect, test } from 'vitest'
import { version } from '../../app/process/version.ts'
import { run } from '../program.ts'

const launcher = fileURLToPath(new URL('../../../bin/windlass', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'windlass-server-command-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Settings of the user who runs the tests must not reach the servers under test. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WINDLASS_')))

const FREE = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']

/** A server in its own process; `ready` is its first output. */
function started(...flags: string[]) {
  const data = mkdtempSync(join(folder, 'data-'))
  const server = spawn(launcher, ['server', '--data', data, ...flags], { env })
  const printed = { out: '', err: '' }
  const ready = new Promise<string>((resolve) => {
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed.out += text
      resolve(text)
    })
  })
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.err += text
  })
  return { server, printed, ready, ended: once(server, 'close').then(([code]) => code) }
}

/** Runs in this process, as on a terminal, until it has printed something. */
async function onTerminal(...flags: string[]): Promise<string> {
  const signals = Object.assign(new EventEmitter(), { exit: () => {} })
  const out: string[] = []
  const code = await run(['server', ...flags], {
    env: { WINDLASS_LOG_LEVEL: 'error', WINDLASS_SERVER_DATA_DIR: mkdtempSync(join(folder, 'data-')) },
    home: folder,
    self: ['windlass'],
    platform: '',
    outIsTerminal: true,
    errIsTerminal: true,
    signals,
    out(text) {
      out.push(text)
      signals.emit('SIGINT', 'SIGINT')
    },
    err: (text) => void out.push(text),
  })
  expect(code).toBe(0)
  return out.join('')
}

describe('ready server', () => {
  test('a terminal gets the addresses, and how to stop the server', async () => {
    const text = (await onTerminal(...FREE)).replaceAll(/:\d{4,5}/g, ':PORT').replaceAll(/ +/g, ' ')
    expect(text).toBe(`
Windlass ${version()} is ready.

 gRPC 127.0.0.1:PORT Remote Execution API, workers, health, reflection
 HTTP http://127.0.0.1:PORT /play, /api, /healthz, /readyz, /metrics, /cas/, /ac/

To let Bazel use it as a cache, put this line into your .bazelrc:

 build --remote_cache=grpc://127.0.0.1:PORT

"windlass worker daemon" gives it a worker. Ctrl+C stops it.

`)
  })

  test('without a terminal one line is printed', async () => {
    const { server, printed, ready, ended } = started(...FREE)
    expect(await ready).toMatch(/^windlass [\d.]+ is ready: gRPC on 127\.0\.0\.1:\d+, HTTP on 127\.0\.0\.1:\d+\n$/)
    server.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(
      printed.err
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['serving', 'stopping: running calls may finish, a second signal ends them', 'stopped'])
  })

  test('a socket file exists while the server runs', async () => {
    const path = join(folder, 'grpc.sock')
    const { server, ready, ended } = started('--json', '--grpc', `unix:${path}`, '--http', '127.0.0.1:0')
    expect(JSON.parse(await ready)).toMatchObject({ ready: true, grpc: `unix:${path}` })
    expect(existsSync(path)).toBe(true)
    server.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(existsSync(path)).toBe(false)
  })
})

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a second %s ends the server without waiting for a running call', async (signal, code) => {
  const { server, ready, ended } = started(...FREE, '--json')
  const { grpc, http } = JSON.parse(await ready)
  const client = new Client(grpc, credentials.createInsecure())
  const asIs = (bytes: Buffer) => bytes
  const call = client.makeBidiStreamRequest('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', asIs, asIs)
  call.on('error', () => {})
  call.write(Buffer.from([0x3a, 0])) // list_services; the stream stays open
  await once(call, 'data')
  server.kill('SIGTERM')
  while ((await fetch(`http://${http}/readyz`)).ok) await setTimeout(5)
  await setTimeout(100) // an earlier signal would count as an echo of the first
  server.kill(signal)
  expect(await ended).toBe(code)
  client.close()
})

test('an address in use prints one line, with exit code 1', async () => {
  const first = started(...FREE, '--json')
  const { http } = JSON.parse(await first.ready)
  const second = started('--grpc', '127.0.0.1:0', '--http', http)
  expect(await second.ended).toBe(1)
  expect(second.printed).toEqual({
    out: '',
    err: `windlass: cannot listen on ${http}: another program is listening there; choose another address with --http (port 0 takes a free one)\n`,
  })
  first.server.kill('SIGTERM')
  await first.ended
})

test('an insecure setting is logged as a warning', async () => {
  const file = join(folder, 'open.toml')
  writeFileSync(file, '[server]\naddress = "0.0.0.0:0"\nhttp_address = "127.0.0.1:0"\n')
  const { server, printed, ready, ended } = started('--config', file, '--insecure', '--json')
  const port = Number(/\d+$/.exec(JSON.parse(await ready).grpc))
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
  server.kill('SIGTERM')
  await ended
  const lines = printed.err
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', keys: ['server.address'] }))
})
