import { spawn } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { type Authority, createAuthority } from '../../src/testing/certificates.ts'
import { healthRequestToProto, servingFromProto } from '../../src/wire/admin/health.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { windlass } from '../workers/worker-process.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

test('windlass reload applies new certificates and settings without closing a connection', {
  timeout: 120_000,
}, async () => {
  const folder = ownFolder()
  const authority = createAuthority()
  writeCertificate(folder, authority)
  const settings = (more = ''): void =>
    writeFileSync(
      join(folder, 'grid.toml'),
      `[server.tls]\ncert_file = "${folder}/cert.pem"\nkey_file = "${folder}/key.pem"\n${more}`,
    )
  settings()
  const server = await startServer(folder)
  const data = join(folder, 'data')
  expect(statSync(join(data, 'control.sock')).mode & 0o777).toBe(0o600)
  const channel = createChannel({
    address: addressOf(server.grpc),
    timing: { now: systemClock.monotonic, after: systemClock.after },
    tls: { ca: authority.ca },
    random: Math.random,
  })
  onTestFinished(() => channel.close())
  const isServing = async (): Promise<unknown> =>
    servingFromProto((await channel.unary('/grpc.health.v1.Health/Check', healthRequestToProto(''), {})).message)
  expect(await isServing()).toBe('serving')
  const kept = await dial(server.http, authority.ca)
  const first = kept.getPeerCertificate().fingerprint256
  const cut: string[] = []
  kept.on('close', () => cut.push('http'))

  writeCertificate(folder, authority)
  settings('[http]\nallowed_hosts = ["grid.example"]\n[log]\nlevel = "debug"\n[limits]\nmax_connections = 77\n')
  expect(await statusFor(server.http, authority.ca, 'grid.example')).toBe(403)
  const reported = await windlass('reload', '--data', data)
  expect(reported).toMatchObject({ code: 0, err: '' })
  expect(reported.out).toContain('In force now: http.allowed_hosts, log.level.')
  expect(reported.out).toContain(`Read again: ${folder}/cert.pem, ${folder}/key.pem.`)
  expect(reported.out).toContain('Changed, but needs a restart: limits.max_connections.')

  // New connections get the new certificate on both ports, and the new settings; the old connections stay open.
  for (const address of [server.http, server.grpc]) {
    const fresh = await dial(address, authority.ca, address === server.grpc)
    expect(fresh.getPeerCertificate().fingerprint256).not.toBe(first)
  }
  expect(await statusFor(server.http, authority.ca, 'grid.example')).toBe(200)
  expect(await isServing()).toBe('serving')
  kept.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await expect(new Promise((received) => kept.once('data', (bytes) => received(String(bytes))))).resolves.toContain(
    '200 OK',
  )
  expect(cut).toEqual([])

  // An invalid file changes nothing, and is named in the error.
  writeFileSync(join(folder, 'key.pem'), 'no key')
  const refused = await windlass('reload', '--data', data)
  expect(refused).toMatchObject({ code: 2, out: '' })
  expect(refused.err).toContain('nothing was changed')
  expect(refused.err).toContain('key.pem')
  expect((await dial(server.http, authority.ca)).authorized).toBe(true)

  // SIGHUP does the same.
  writeCertificate(folder, authority)
  const before = (await dial(server.http, authority.ca)).getPeerCertificate().fingerprint256
  process.kill(server.pid, 'SIGHUP')
  while ((await certificateAt(server.http, authority.ca)).fingerprint256 === before) await pause()
  server.stop()
  expect(await server.gone).toBe(0)
})

test('windlass reload reads the certificates of the upstream again', { timeout: 120_000 }, async () => {
  const [folder, above] = [ownFolder(), ownFolder()]
  const authority = createAuthority()
  writeCertificate(above, authority)
  writeFileSync(
    join(above, 'grid.toml'),
    `[server.tls]\ncert_file = "${above}/cert.pem"\nkey_file = "${above}/key.pem"\n`,
  )
  const upstream = await startServer(above)
  writeFileSync(join(above, 'ca.pem'), authority.ca)
  writeFileSync(join(above, 'blob'), 'kept by the upstream')
  const address = `grpcs://localhost:${addressOf(upstream.grpc).port}`
  const put = await windlass('cas', 'put', '-s', address, '--ca', join(above, 'ca.pem'), join(above, 'blob'))
  expect(put, put.err).toMatchObject({ code: 0 })

  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, createAuthority().ca)
  writeFileSync(
    join(folder, 'grid.toml'),
    `[storage.upstream]\nurl = "${address}"\n[storage.upstream.tls]\nca_file = "${ca}"\n`,
  )
  const server = await startServer(folder)
  writeFileSync(ca, 'no certificate')
  const reload = () => windlass('reload', '--data', join(folder, 'data'))
  expect(await reload()).toMatchObject({ code: 2, err: expect.stringContaining('storage.upstream.tls') })
  writeFileSync(ca, authority.ca)
  expect(await reload()).toMatchObject({ code: 0, out: expect.stringContaining(`Read again: ${ca}.`) })
  const digest = put.out.split(' ')[0] ?? ''
  const got = await windlass('cas', 'get', '-s', `grpc://${server.grpc}`, digest)
  expect(got, got.err).toMatchObject({ code: 0, out: 'kept by the upstream' })
})

test('windlass reload without a server prints the path of the missing socket', { timeout: 60_000 }, async () => {
  const folder = ownFolder()
  const { code, err } = await windlass('reload', '--data', folder)
  expect(code).toBe(1)
  expect(err).toContain(join(folder, 'control.sock'))
})

function writeCertificate(folder: string, authority: Authority): void {
  const { cert, key } = authority.server()
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key)
}

async function startServer(folder: string) {
  const flags = ['--config', join(folder, 'grid.toml'), '--data', join(folder, 'data')]
  const child = spawn(WINDLASS, ['server', '--json', '--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = await new Promise<string>((found) => createInterface({ input: child.stdout }).once('line', found))
  const { grpc, http } = JSON.parse(line) as { grpc: string; http: string }
  const gone = new Promise<number | null>((done) => child.once('close', done))
  return { grpc, http, gone, pid: child.pid as number, stop: () => void child.kill('SIGTERM') }
}

const addressOf = (text: string): { host: string; port: number } => ({
  host: '127.0.0.1',
  port: Number(text.split(':')[1]),
})

const dial = (address: string, ca: string, isGrpc = false): Promise<TLSSocket> =>
  new Promise((dialled, failed) => {
    const options = { ...addressOf(address), ca, servername: 'localhost', ...(isGrpc && { ALPNProtocols: ['h2'] }) }
    const socket = connect(options, () => dialled(socket)).on('error', failed)
    onTestFinished(() => void socket.destroy())
  })

async function certificateAt(address: string, ca: string): Promise<PeerCertificate> {
  const socket = await dial(address, ca)
  return socket.getPeerCertificate()
}

async function statusFor(address: string, ca: string, host: string): Promise<number> {
  const socket = await dial(address, ca)
  socket.write(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  const answer = await new Promise<string>((received) => socket.once('data', (bytes) => received(String(bytes))))
  return Number(answer.split(' ')[1])
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))
