import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { type GrpcHealth, grpcHealth } from '../../src/doors/grpc/health/door.ts'
import { reflection } from '../../src/doors/grpc/reflection/door.ts'
import { createServer, type GrpcServer } from '../../src/grpc/server/server.ts'
import type { Service } from '../../src/grpc/service.ts'
import { descriptorSet } from '../../src/wire/admin/descriptor-set.ts'
import { healthListFromProto, healthRequestToProto, servingFromProto } from '../../src/wire/admin/health.ts'
import {
  type ReflectionQuestion,
  reflectionRequestToProto,
  reflectionResponseFromProto,
} from '../../src/wire/admin/reflection.ts'

/** Health and reflection of our gRPC server, called by grpc-js. */
let server: GrpcServer
let client: Client
let health: GrpcHealth

beforeEach(async () => {
  health = grpcHealth()
  const services: Service[] = [health.service]
  services.push(...reflection(descriptorSet(), () => services.map(({ name }) => name)))
  server = createServer({ services, timing: { now: systemClock.monotonic, after: systemClock.after } })
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  if (!('port' in bound)) throw new Error('no port')
  client = new Client(`127.0.0.1:${bound.port}`, credentials.createInsecure())
})

afterEach(() => {
  client.close()
  server.close()
})

describe('the gRPC health service', () => {
  test('responds to Check and List', async () => {
    health.set('', true)
    expect(servingFromProto(await call('Check', healthRequestToProto('')))).toBe('serving')
    expect(healthListFromProto(await call('List', new Uint8Array()))).toEqual(new Map([['', 'serving']]))
  })

  test('returns NOT_FOUND for a service that was never set', async () => {
    await expect(call('Check', healthRequestToProto('a.A'))).rejects.toMatchObject({ code: status.NOT_FOUND })
  })

  test('returns INVALID_ARGUMENT for a malformed request', async () => {
    await expect(call('Check', Uint8Array.of(0x0a, 0xff))).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
  })

  test('sends each change to a Watch call until it is cancelled', async () => {
    const watching = watch('a.A')
    expect(await watching.next()).toBe('unknown')
    health.set('a.A', true)
    expect(await watching.next()).toBe('serving')
    health.set('a.A', false)
    expect(await watching.next()).toBe('notServing')
    watching.stream.cancel()
    await expect(watching.next()).rejects.toMatchObject({ code: status.CANCELLED })
  })

  test('ends Watch calls with UNAVAILABLE when the server drains, so that they do not delay it', async () => {
    health.set('', true)
    const watching = watch('')
    expect(await watching.next()).toBe('serving')
    health.drain()
    const drained = server.drain(20_000)
    expect(await watching.next()).toBe('notServing')
    await expect(watching.next()).rejects.toMatchObject({ code: status.UNAVAILABLE })
    const started = performance.now()
    await drained
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  test('answers several requests on one stream, in order', async () => {
    const answers = await ask(version, [
      { ask: 'services' },
      { ask: 'symbol', symbol: 'google.rpc.Status' },
      { ask: 'symbol', symbol: 'no.Such' },
      { ask: 'file', name: 'grpc/health/v1/health.proto' },
    ])
    expect(answers).toMatchObject([
      {
        kind: 'services',
        names: [
          'grpc.health.v1.Health',
          'grpc.reflection.v1.ServerReflection',
          'grpc.reflection.v1alpha.ServerReflection',
        ],
      },
      { kind: 'files', files: { length: 2 } },
      { kind: 'error', code: status.NOT_FOUND },
      { kind: 'files', files: { length: 1 } },
    ])
  })
})

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
const asBytes = (bytes: Buffer): Uint8Array => bytes

const call = (method: string, request: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, answer?: Uint8Array) => (answer ? resolve(answer) : reject(error))
    client.makeUnaryRequest(`/grpc.health.v1.Health/${method}`, asBuffer, asBytes, request, done)
  })

function watch(service: string) {
  const path = '/grpc.health.v1.Health/Watch'
  const stream = client.makeServerStreamRequest(path, asBuffer, asBytes, healthRequestToProto(service))
  const states = stream[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await states.next()
    return done ? undefined : servingFromProto(value)
  }
  return { stream, next }
}

async function ask(version: string, questions: readonly ReflectionQuestion[]) {
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`
  const stream = client.makeBidiStreamRequest<Uint8Array, Uint8Array>(path, asBuffer, asBytes)
  for (const question of questions) stream.write(reflectionRequestToProto({ host: '', question }))
  stream.end()
  const answers = []
  for await (const bytes of stream) answers.push(reflectionResponseFromProto(bytes).answer)
  return answers
}
