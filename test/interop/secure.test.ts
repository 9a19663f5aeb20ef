import { describe, expect, test } from 'vitest'
import type { ServerTls } from '../../src/grpc/server/server.ts'
import type { Service } from '../../src/grpc/service.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { createAuthority } from '../../src/testing/certificates.ts'
import { describeWith } from '../../src/testing/require.ts'
import { interopContract } from './contract.ts'
import { type InteropClient, SERVICE } from './conversation.ts'
import { grpcJsClient } from './grpc-js-client.ts'
import { grpcJsServer } from './grpc-js-server.ts'
import { pythonClient } from './python-client.ts'
import { PYTHON } from './python-script.ts'
import { pythonServer } from './python-server.ts'
import { payload } from './requests.ts'
import { startedHere } from './started.ts'
import { windlassClient } from './windlass-client.ts'
import { windlassServer } from './windlass-server.ts'

const authority = createAuthority()
const { ca } = authority
const started = startedHere()

describe('TLS', () => {
  describe('a grpc-js client and our server', () => {
    interopContract(async () => {
      const server = await windlassServer({ tls: authority.server() })
      return { server, client: grpcJsClient(server.address, { ca }) }
    })
  })

  describe('our client and a grpc-js server', () => {
    interopContract(async () => {
      const server = await grpcJsServer({ trust: { ca, ...authority.server() } })
      return { server, client: windlassClient(server.address, { tls: { ca } }) }
    })
  })

  describe('our client and our server', () => {
    interopContract(async () => {
      const server = await windlassServer({ tls: authority.server() })
      return { server, client: windlassClient(server.address, { tls: { ca } }) }
    })
  })

  describeWith(PYTHON, 'a client on the C core and our server', () => {
    interopContract(
      async () => {
        const server = await windlassServer({ tls: authority.server() })
        return { server, client: pythonClient(server.address, { ca }) }
      },
      { crowd: 100 },
    )
  })

  describeWith(PYTHON, 'our client and a server on the C core', () => {
    interopContract(async () => {
      const server = await pythonServer({ ca, ...authority.server() })
      return { server, client: windlassClient(server.address, { tls: { ca } }) }
    })
  })
})

const who: Service = {
  name: SERVICE,
  methods: { Who: { kind: 'unary', handle: (_, call) => Buffer.from(String(call.peer.certificateName)) } },
}

const serve = (tls: Partial<ServerTls> = {}) =>
  started(windlassServer({ services: [who], tls: { ...authority.server(), ...tls } }))

const askWho = async (client: InteropClient) =>
  await (await started(client)).converse({ method: `/${SERVICE}/Who`, kind: 'unary', messages: [payload(0)] })

describe('certificates', () => {
  test('a client refuses a server whose certificate its CA did not sign', async () => {
    const { address } = await serve()
    const { ca: other } = createAuthority()
    const ours = await askWho(windlassClient(address, { tls: { ca: other } }))
    expect(ours).toMatchObject({ code: STATUS.unavailable, message: /cannot connect to 127\.0\.0\.1:\d+.*signature/ })
    expect(await askWho(grpcJsClient(address, { ca: other }))).toMatchObject({ code: STATUS.unavailable })
  })

  test('a client refuses a certificate for another name than the requested one', async () => {
    const { address } = await serve()
    expect(await askWho(windlassClient(address, { tls: { ca, serverName: 'localhost' } }))).toMatchObject({ code: 0 })
    const other = await askWho(windlassClient(address, { tls: { ca, serverName: 'example.org' } }))
    expect(other).toMatchObject({ code: STATUS.unavailable, message: /example\.org/ })
  })

  test('a plaintext client and a TLS server cannot connect, nor a TLS client and a plaintext server', async () => {
    const secure = await serve()
    expect(await askWho(windlassClient(secure.address))).toMatchObject({ code: STATUS.unavailable })
    const clear = await started(windlassServer())
    expect(await askWho(windlassClient(clear.address, { tls: { ca } }))).toMatchObject({ code: STATUS.unavailable })
  })

  test('a client without a certificate has no certificateName', async () => {
    const { address } = await serve()
    expect(String((await askWho(windlassClient(address, { tls: { ca } }))).answers[0])).toBe('undefined')
  })

  test('the certificateName of a client is the name in its certificate, when the server has a clientCa', async () => {
    const { address } = await serve({ clientCa: ca })
    const worker = authority.client('worker 七')
    const ours = await askWho(windlassClient(address, { tls: { ca, ...worker } }))
    expect(String(ours.answers[0])).toBe('worker 七')
    const theirs = await askWho(grpcJsClient(address, { ca, ...worker }))
    expect(String(theirs.answers[0])).toBe('worker 七')
  })

  test('a server with a clientCa refuses a client without a certificate, or with one of another CA', async () => {
    const { address } = await serve({ clientCa: ca })
    const stranger = createAuthority().client('worker')
    expect(await askWho(windlassClient(address, { tls: { ca } }))).toMatchObject({ code: STATUS.unavailable })
    expect(await askWho(windlassClient(address, { tls: { ca, ...stranger } }))).toMatchObject({
      code: STATUS.unavailable,
    })
    expect(await askWho(grpcJsClient(address, { ca }))).toMatchObject({ code: STATUS.unavailable })
    expect(await askWho(grpcJsClient(address, { ca, ...stranger }))).toMatchObject({ code: STATUS.unavailable })
  })
})

describeWith(PYTHON, 'certificates on the C core', () => {
  test('a Python client with a certificate has its certificateName, and without one is refused', async () => {
    const { address } = await serve({ clientCa: ca })
    const named = await askWho(pythonClient(address, { ca, ...authority.client('worker 八') }))
    expect(String(named.answers[0])).toBe('worker 八')
    expect(await askWho(pythonClient(address, { ca }))).toMatchObject({ code: STATUS.unavailable })
  })
})
