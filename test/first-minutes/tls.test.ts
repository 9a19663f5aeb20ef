import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuthority } from '../../src/testing/certificates.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { startUp } from '../workers/up-process.ts'
import { FREE_PORTS, openFolder, type Place, type Service, serving, windlass } from './windlass-process.ts'

const { path: cwd, remove } = openFolder('tls')
const authority = createAuthority()
const ECHO = ['--', '/bin/echo', 'hello']
const TOOL =
  'cwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: [echo, hi]\ninputs: []\nstdout: out\noutputs: { o: stdout }\n'

beforeAll(() => {
  const put = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
  const identities = {
    here: authority.server(),
    named: authority.serverNamed('grid.example.com'),
    me: authority.client('me'),
  }
  for (const [name, { cert, key }] of Object.entries(identities)) {
    put(`${name}.pem`, cert)
    put(`${name}.key`, key)
  }
  put('ca.pem', authority.ca)
  put('tool.cwl', TOOL)
})
afterAll(remove)

/** The configuration of a server with one of the certificates. */
function settings(name: string, more = ''): string[] {
  const file = join(cwd, `${name}-${more.length}.toml`)
  writeFileSync(file, `[server.tls]\ncert_file = "${cwd}/${name}.pem"\nkey_file = "${cwd}/${name}.key"\n${more}`)
  return ['--config', file, '--data', `./data-${name}-${more.length}`, ...FREE_PORTS]
}

const port = (address: string | undefined): string => /:(\d+)$/.exec(address ?? '')?.[1] ?? ''

describe('the worker of windlass up', () => {
  const runs = async (flags: readonly string[], more: Place = { cwd }): Promise<void> => {
    const grid = await serving(['up', ...flags], more)
    try {
      const ran = await windlass(
        [
          'run',
          '-s',
          `grpcs://localhost:${port(grid.ready.grpc)}`,
          '--ca',
          'ca.pem',
          '--cert',
          'me.pem',
          '--key',
          'me.key',
          ...ECHO,
        ],
        { cwd },
      )
      // `run` does not accept a certificate for another name, but the worker on the same machine does.
      if (flags.some((flag) => flag.includes('named'))) await registered(grid)
      else expect(ran, grid.err()).toMatchObject({ code: 0, out: 'hello\n' })
    } finally {
      await grid.stop()
    }
  }
  const registered = async (grid: Service): Promise<void> => {
    for (let i = 0; i < 300 && !grid.err().includes('"registered"'); i++)
      await new Promise((done) => setTimeout(done, 100))
    expect(grid.err()).toContain('"registered"')
  }

  test('connects to a server whose certificate a CA signed', () => runs(settings('here')))
  test('connects to a server whose certificate names another host', () => runs(settings('named')))
  test('connects with the CA and the client certificate of [worker.tls]', () =>
    runs(
      settings(
        'here',
        `client_ca_file = "${cwd}/ca.pem"\n[worker.tls]\nca_file = "${cwd}/ca.pem"\ncert_file = "${cwd}/me.pem"\nkey_file = "${cwd}/me.key"\n`,
      ),
    ))
})

test('/readyz reports a worker of windlass up that lacks the required client certificate', async () => {
  const probes = `client_ca_file = "${cwd}/ca.pem"\n[http]\nhealth_address = "127.0.0.1:0"\n\n`
  const up = await startUp({ data: join(cwd, 'mutual'), flags: settings('here', probes).slice(0, 2) })
  const health = up.log().find(({ msg }) => msg === 'serving')?.health
  await eventually(async () => {
    const { reasons } = (await (await fetch(`http://${health}/readyz`)).json()) as { reasons: string[] }
    expect(reasons.join()).toMatch(/^the worker waits for its server: .*requires a client certificate/)
  })
  expect(up.isReady()).toBe(false)
  up.signal('SIGINT')
  expect(await up.gone).toBe(0)
})

describe('client flags and addresses', () => {
  let plain: Service
  let secure: Service
  beforeAll(async () => {
    plain = await serving(['up', '--data', './plain', '--slots', '2', ...FREE_PORTS], { cwd })
    const probes = `client_ca_file = "${cwd}/ca.pem"\n[http]\nhealth_address = "127.0.0.1:0"\n`
    secure = await serving(['server', ...settings('here', probes)], { cwd })
  })
  afterAll(async () => {
    await plain?.stop()
    await secure?.stop()
  })

  const MUTUAL = ['--ca', 'ca.pem', '--cert', 'me.pem', '--key', 'me.key', '--header', 'x-team=ours']
  const commands: Readonly<Record<string, readonly string[]>> = {
    run: ['run', ...ECHO],
    workers: ['workers'],
    'cas stat': ['cas', 'stat'],
    tasks: ['tasks'],
    check: ['check', 'reapi', '--only', 'capabilities.*'],
    cwl: ['cwl', 'run', '--outdir', 'out', 'tool.cwl'],
  }
  const withFlags = ([first = '', ...words]: readonly string[], flags: readonly string[]): string[] => {
    const [second = '', ...rest] = words
    return first === 'cas' || first === 'cwl' || first === 'check'
      ? [first, second, ...flags, ...rest]
      : [first, ...flags, ...words]
  }

  test.each(Object.keys(commands))(
    '%s accepts gRPC and HTTP addresses, by flag and by WINDLASS_SERVER',
    async (name) => {
      const [grpc, http] = [port(plain.ready.grpc), port(plain.ready.http)]
      const argv = commands[name] ?? []
      const addresses = [`grpc://127.0.0.1:${grpc}`, `http://127.0.0.1:${grpc}`, `http://127.0.0.1:${http}`]
      for (const address of addresses)
        expect(await windlass(withFlags(argv, ['--server', address]), { cwd }), address).toMatchObject({ code: 0 })
      const env = { WINDLASS_SERVER: addresses.at(-1) }
      expect(await windlass(argv, { cwd, env })).toMatchObject({ code: 0 })
    },
  )

  test.each(['workers', 'cas stat', 'check'])('%s works over mutual TLS on either port', async (name) => {
    const [grpc, http] = [port(secure.ready.grpc), port(secure.ready.http)]
    for (const address of [`grpcs://127.0.0.1:${grpc}`, `https://localhost:${grpc}`, `https://127.0.0.1:${http}`]) {
      const argv = withFlags(commands[name] ?? [], ['--server', address, ...MUTUAL])
      expect(await windlass(argv, { cwd }), address).toMatchObject({ code: 0 })
    }
  })

  test('a wrong port, scheme or certificate is named in the error', async () => {
    const [grpc, http] = [port(plain.ready.grpc), port(plain.ready.http)]
    const [tlsGrpc, tlsHttp] = [port(secure.ready.grpc), port(secure.ready.http)]
    const says = async (flags: readonly string[], words: string): Promise<void> =>
      expect(await windlass(['workers', '--server', ...flags], { cwd })).toMatchObject({
        code: 1,
        err: expect.stringContaining(words),
      })
    await says([`grpc://127.0.0.1:${http}`], `this is the HTTP port; gRPC is on 127.0.0.1:${grpc}`)
    await says([`grpcs://127.0.0.1:${tlsHttp}`, ...MUTUAL], `this is the HTTP port; gRPC is on 127.0.0.1:${tlsGrpc}`)
    await says([`grpcs://127.0.0.1:${grpc}`], 'the peer does not speak TLS\nwindlass: name it as grpc://')
    await says([`grpc://127.0.0.1:${tlsGrpc}`], 'name it as grpcs://')
    await says([`grpcs://127.0.0.1:${tlsGrpc}`], 'is signed by none that is trusted here')
    await says([`grpcs://127.0.0.1:${tlsGrpc}`, '--ca', 'ca.pem'], 'the server requires a client certificate')
    await says([`https://127.0.0.1:${tlsHttp}`, '--ca', 'ca.pem'], 'the server requires a client certificate')
    await says([`https://127.0.0.1:${tlsHttp}`], 'is signed by none that is trusted here')
  })

  test('a file without a certificate or a key is named in the error, also by a worker', async () => {
    const server = ['--server', `grpcs://127.0.0.1:${port(secure.ready.grpc)}`]
    for (const command of [['workers'], ['worker', 'daemon', '--data', './none']]) {
      const says = async (flags: readonly string[], words: RegExp): Promise<void> =>
        expect(await windlass([...command, ...server, ...flags], { cwd })).toMatchObject({
          code: 2,
          err: expect.stringMatching(words),
        })
      await says(['--ca', 'me.key'], /ca: it has no certificate in PEM/)
      await says(['--ca', 'ca.pem', '--cert', 'tool.cwl', '--key', 'me.key'], /cert and key: .*no start line/)
      await says(['--ca', 'ca.pem', '--cert', 'here.pem', '--key', 'me.key'], /cert and key: .*key values mismatch/)
    }
  })

  test('an HTTP client on the gRPC port gets status 421 and the HTTP address as JSON', async () => {
    const [grpc, http] = [port(plain.ready.grpc), port(plain.ready.http)]
    const answer = await fetch(`http://127.0.0.1:${grpc}/healthz`)
    expect(answer.status).toBe(421)
    expect(await answer.json()).toMatchObject({ error: `this is the gRPC port; HTTP is on 127.0.0.1:${http}` })
  })

  test('cwl run, which needs the HTTP port, names a wrong scheme or certificate', async () => {
    const grpc = port(plain.ready.grpc)
    const [tlsGrpc, tlsHttp] = [port(secure.ready.grpc), port(secure.ready.http)]
    const says = async (flags: readonly string[], words: string): Promise<void> =>
      expect(await windlass(['cwl', 'run', '--server', ...flags, 'tool.cwl'], { cwd })).toMatchObject({
        code: 1,
        err: expect.stringContaining(words),
      })
    for (const address of [`grpcs://127.0.0.1:${tlsGrpc}`, `https://127.0.0.1:${tlsHttp}`]) {
      await says([address, '--ca', 'ca.pem'], 'the server requires a client certificate')
      await says([address], 'is signed by none that is trusted here')
    }
    for (const scheme of ['grpcs', 'https'])
      await says([`${scheme}://127.0.0.1:${grpc}`], 'the peer does not speak TLS')
    await says([`grpc://127.0.0.1:${tlsGrpc}`], 'name it as grpcs://')
    await says([`http://127.0.0.1:${tlsHttp}`], 'name it as grpcs://')
  })

  test('the health address serves health without a client certificate, and nothing else', async () => {
    const at = `http://${secure.ready.health}`
    expect((await fetch(`${at}/healthz`)).status).toBe(200)
    expect(await (await fetch(`${at}/readyz`)).json()).toEqual({ ready: true, reasons: [] })
    expect((await fetch(`${at}/metrics`)).status).toBe(404)
    expect((await fetch(`${at}/api/v1/tasks`)).status).toBe(404)
  })
})
