/** More connections than the server accepts: health probes and honest callers are still answered. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { spawnServer } from '../../bench/cache/peers/spawned.ts'
import { PROGRAM } from '../../bench/cache/peers/windlass.ts'
import { createAuthority } from '../../src/testing/certificates.ts'
import { eventually } from '../../src/testing/eventually.ts'

interface Address {
  readonly host: string
  readonly port: number
  readonly tls: boolean
}

async function serve(toml: (folder: string) => string): Promise<Address> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-connections-'))
  writeFileSync(join(folder, 'windlass.toml'), toml(folder))
  const addresses = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', join(folder, 'data'), '--json']
  const args = ['server', '--config', join(folder, 'windlass.toml'), ...addresses]
  const server = spawnServer({ program: PROGRAM, args, folder })
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  const { http } = JSON.parse(await server.firstLine()) as { http: string }
  return { host: '127.0.0.1', port: Number(http.split(':').at(-1)), tls: toml(folder).includes('[server.tls]') }
}

function open({ tls, ...address }: Address): Socket {
  const socket = tls ? connectTls({ ...address, rejectUnauthorized: false }) : connect(address)
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}

/** A slow machine needs a while to read the requests of thousands of connections. */
const PATIENT = '[limits]\nheader_seconds = 60\n'

interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends one request; status 0 when the connection ends without a response. */
const ask = (address: Address, path: string): Promise<Answer> =>
  new Promise((resolve) => {
    const socket = open(address)
    let text = ''
    socket.on('data', (piece) => {
      text += piece
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN)
      if (body.length >= length) resolve({ status: Number(head.split(' ')[1]), text })
    })
    socket.on('close', () => resolve({ status: 0, text }))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  })

const isReadySocket = (socket: Socket, { tls }: Address) =>
  new Promise<void>((resolve) => {
    socket.once(tls ? 'secureConnect' : 'connect', () => resolve()).once('close', () => resolve())
  })

/**
 * Opens silent connections, 200 at a time. The kernel drops the handshake's last packet when the queue of
 * unaccepted connections is full, and a silent client never repeats it. The server accepts in order, so an
 * answered probe shows that it has accepted all connections before it.
 */
async function fill(address: Address, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const wave = Array.from({ length: Math.min(200, count - sockets.length) }, () => open(address))
    await Promise.all(wave.map((socket) => isReadySocket(socket, address)))
    expect((await ask(address, '/healthz')).status).toBe(200)
    sockets.push(...wave)
  }
  return sockets
}

async function expectHealth(address: Address): Promise<void> {
  for (const path of ['/healthz', '/readyz', '/healthz']) expect((await ask(address, path)).status).toBe(200)
}

test('2,550 silent connections from one address do not block health requests', async () => {
  const address = await serve(() => PATIENT)
  const held = await fill(address, 2550)
  await expectHealth(address)
  // The kernel reports a connection as open before the server has accepted it.
  const text = await eventually(async () => {
    const answer = await ask(address, '/api/v1/tasks')
    expect(answer.status).toBe(429)
    return answer.text
  })
  expect(text).toMatch(/retry-after: 5/i)
  expect(text).toMatch(/connection: close/i)
  await expectHealth(address)
  expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 42901, message: expect.any(String) })
  expect((await ask(address, '/submissions')).text).toMatch(/\{"error":"Too many connections from this address/)
  for (const socket of held.slice(0, 100)) socket.destroy()
  await eventually(async () => expect((await ask(address, '/api/v1/languages')).status).toBe(200))
})

test('5,000 simultaneous requests of one client all get 200 or 429, at least half of them 200', async () => {
  const address = await serve(() => PATIENT)
  const answers = await Promise.all(Array.from({ length: 5000 }, () => ask(address, '/api/v1/languages')))
  const tally = Object.groupBy(answers, ({ status }) => status)
  const counts = Object.fromEntries(Object.entries(tally).map(([status, list]) => [status, list?.length]))
  expect(counts).toEqual({ 200: expect.any(Number), 429: expect.any(Number) })
  expect(counts[200]).toBeGreaterThanOrEqual(2500)
  await expectHealth(address)
})

const SMALL = `${PATIENT}max_connections_per_address = 20\n`

test('4,000 silent connections above max_connections_per_address do not block health requests', async () => {
  const address = await serve(() => SMALL)
  const held = await fill(address, 4000)
  await expectHealth(address)
  // The server closes the oldest connections above the cap when there are more than 2,500; those within the cap stay
  // open.
  await eventually(() => expect(held.filter(({ closed }) => closed).length).toBeGreaterThan(1000))
  expect(held.slice(0, 10).some(({ closed }) => closed)).toBe(false)
})

test('max_connections does not block health requests', async () => {
  const address = await serve(() => `${PATIENT}max_connections = 20\n`)
  await fill(address, 30)
  await expectHealth(address)
  expect((await ask(address, '/api/v1/tasks')).text).toContain('limits.max_connections)')
})

test('connections above the cap do not block health requests over TLS', async () => {
  const address = await serve((folder) => {
    const { cert, key } = createAuthority().server()
    writeFileSync(join(folder, 'cert.pem'), cert)
    writeFileSync(join(folder, 'key.pem'), key)
    return `${SMALL}[server.tls]\ncert_file = "${folder}/cert.pem"\nkey_file = "${folder}/key.pem"\n`
  })
  await fill(address, 30)
  await expectHealth(address)
  expect((await ask(address, '/api/v1/tasks')).status).toBe(429)
})
