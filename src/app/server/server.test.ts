import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChannelCredentials, Client, credentials } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { describeWith } from '../../testing/require.ts'
import { selfSigned } from '../../testing/self-signed.ts'
import { loadConfig } from '../config/load.ts'
import { systemClock } from '../process/clock.ts'
import { type RunningServer, startServer } from './server.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-server-'))
afterAll(() => rmSync(folder, { recursive: true }))

const running: RunningServer[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()))
})

async function start(env: Record<string, string> = {}): Promise<RunningServer> {
  const free = { WINDLASS_SERVER_ADDRESS: '127.0.0.1:0', WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0' }
  const own = { WINDLASS_SERVER_DATA_DIR: mkdtempSync(join(folder, 'data-')), WINDLASS_SERVER_DRAIN_SECONDS: '1' }
  const { config } = loadConfig({ env: { ...free, ...own, ...env }, home: folder })
  const server = await startServer(config, { log: silentLog, clock: systemClock })
  running.push(server)
  return server
}

const SERVING = Buffer.from([8, 1])
const asIs = (bytes: Buffer) => bytes

/** Calls the health service with another gRPC implementation. */
async function health(
  address: string,
  secure: ChannelCredentials = credentials.createInsecure(),
): Promise<Buffer | undefined> {
  const client = new Client(address, secure, { 'grpc.ssl_target_name_override': 'localhost' })
  try {
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', asIs, asIs, Buffer.alloc(0), (error, answer) =>
        error ? reject(error) : resolve(answer),
      )
    })
  } finally {
    client.close()
  }
}

describe('running server', () => {
  test('health is answered over gRPC at the reported address', async () => {
    const { grpc } = await start()
    expect(grpc).toMatch(/^127\.0\.0\.1:[1-9]\d*$/)
    expect(await health(grpc)).toEqual(SERVING)
  })

  test('/healthz, /readyz and /metrics answer 200 over HTTP', async () => {
    const { grpc, http, httpUrl } = await start()
    expect(httpUrl).toBe(`http://${http}`)
    await health(grpc)
    const [healthz, readyz, metrics] = await Promise.all(
      ['healthz', 'readyz', 'metrics'].map((path) => fetch(`${httpUrl}/${path}`)),
    )
    expect([healthz?.status, readyz?.status, metrics?.status]).toEqual([200, 200, 200])
    expect(await readyz?.json()).toEqual({ ready: true, reasons: [] })
    expect(await metrics?.text()).toContain('grpc.health.v1.Health')
  })

  test('a server listens on a socket file', async () => {
    const path = join(folder, 'grpc.sock')
    expect((await start({ WINDLASS_SERVER_ADDRESS: `unix:${path}` })).grpc).toBe(`unix:${path}`)
    expect(await health(`unix:${path}`)).toEqual(SERVING)
  })

  test('a server whose HTTP address is in use releases its gRPC address', async () => {
    const first = await start()
    const free = (await start()).grpc
    await running.pop()?.stop()
    const attempt = start({ WINDLASS_SERVER_ADDRESS: free, WINDLASS_SERVER_HTTP_ADDRESS: first.http })
    await expect(attempt).rejects.toThrow(`cannot listen on ${first.http}: another program is listening there`)
    expect((await start({ WINDLASS_SERVER_ADDRESS: free })).grpc).toBe(free)
  })
})

describe('stopping server', () => {
  test('/readyz answers 503 while a call runs, then both ports are closed', async () => {
    const { grpc, httpUrl, stop } = await start({ WINDLASS_SERVER_DRAIN_SECONDS: '0.5' })
    const client = new Client(grpc, credentials.createInsecure())
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
    const call = client.makeBidiStreamRequest(path, asIs, asIs)
    const ended = new Promise((resolve) => call.on('error', resolve))
    const answered = new Promise((resolve) => call.once('data', resolve))
    call.write(Buffer.from([0x3a, 0]))
    await answered

    const stopped = stop()
    expect(stop()).toBe(stopped)
    const readyz = await fetch(`${httpUrl}/readyz`)
    expect([readyz.status, await readyz.json()]).toMatchObject([503, { ready: false, reasons: ['stopping'] }])

    await stopped
    expect(await ended).toMatchObject({ code: expect.any(Number) })
    client.close()
    await expect(health(grpc)).rejects.toMatchObject({ code: 14 })
    await expect(fetch(`${httpUrl}/readyz`)).rejects.toThrow()
  })

  test('a server without calls stops at once', async () => {
    const { stop } = await start({ WINDLASS_SERVER_DRAIN_SECONDS: '60' })
    await stop()
  })
})

describeWith('openssl', 'server with TLS', () => {
  let ours: ReturnType<typeof pemFiles>
  let caller: ReturnType<typeof pemFiles>
  let tls: Record<string, string>
  beforeAll(() => {
    ours = pemFiles('ours')
    caller = pemFiles('caller')
    tls = { WINDLASS_SERVER_TLS_CERT_FILE: ours.certFile, WINDLASS_SERVER_TLS_KEY_FILE: ours.keyFile }
  })

  test('gRPC and HTTP both use TLS', async () => {
    const { grpc, httpUrl } = await start(tls)
    expect(await health(grpc, credentials.createSsl(ours.cert))).toEqual(SERVING)
    expect(httpUrl).toMatch(/^https:/)
    expect(await statusOf(`${httpUrl}/readyz`, { ca: ours.cert })).toBe(200)
  })

  test('with a client CA, callers without a certificate are refused by gRPC and HTTP', async () => {
    const { grpc, httpUrl } = await start({ ...tls, WINDLASS_SERVER_TLS_CLIENT_CA_FILE: caller.certFile })
    const known = { ca: ours.cert, cert: caller.cert, key: caller.key }
    expect(await health(grpc, credentials.createSsl(ours.cert, caller.key, caller.cert))).toEqual(SERVING)
    expect(await statusOf(`${httpUrl}/readyz`, known)).toBe(200)
    await expect(health(grpc, credentials.createSsl(ours.cert))).rejects.toMatchObject({ code: 14 })
    await expect(statusOf(`${httpUrl}/readyz`, { ca: ours.cert })).rejects.toThrow()
  })

  test('a key that does not match the certificate is invalid', async () => {
    await expect(start({ ...tls, WINDLASS_SERVER_TLS_KEY_FILE: caller.keyFile })).rejects.toMatchObject({
      fault: { kind: 'invalid', what: expect.stringContaining('key values mismatch') },
    })
  })

  test('a missing certificate file is reported with its setting', async () => {
    const attempt = start({ ...tls, WINDLASS_SERVER_TLS_CERT_FILE: join(folder, 'none.pem') })
    await expect(attempt).rejects.toThrow(/^server\.tls\.cert_file: ENOENT/)
  })
})

function pemFiles(name: string) {
  const { cert, key } = selfSigned()
  const certFile = join(folder, `${name}.pem`)
  const keyFile = join(folder, `${name}.key`)
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  return { certFile, keyFile, cert: Buffer.from(cert), key: Buffer.from(key) }
}

const statusOf = (url: string, secure: { ca: Buffer; cert?: Buffer; key?: Buffer }) =>
  new Promise((resolve, reject) => {
    request(url, { ...secure, agent: false, servername: 'localhost' }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
