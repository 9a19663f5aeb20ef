import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Method } from '../../../grpc/service.ts'
import { STATUS } from '../../../grpc/status.ts'
import { fakeCall, fakeOutgoing } from '../../../testing/grpc-call.ts'
import {
  healthListFromProto,
  healthRequestToProto,
  type Serving,
  servingFromProto,
} from '../../../wire/admin/health.ts'
import { type GrpcHealth, grpcHealth } from './door.ts'

describe('Check', () => {
  test('the whole server is NOT_SERVING until it is set to serving', async () => {
    const health = grpcHealth()
    expect(await check(health, '')).toBe('notServing')
    health.set('', true)
    expect(await check(health, '')).toBe('serving')
  })

  test('each service has its own state', async () => {
    const health = grpcHealth()
    health.set('a.A', true)
    health.set('a.B', false)
    expect([await check(health, 'a.A'), await check(health, 'a.B')]).toEqual(['serving', 'notServing'])
  })

  test('a service that was never set is NOT_FOUND', async () => {
    await expect(check(grpcHealth(), 'a.A')).rejects.toMatchObject({ code: STATUS.notFound })
  })

  test('bytes that are no request are INVALID_ARGUMENT', async () => {
    const garbage = Uint8Array.of(0x0a, 0xff)
    await expect(unary(grpcHealth(), 'Check', garbage)).rejects.toMatchObject({ code: STATUS.invalidArgument })
  })
})

test('List returns every service and the whole server', async () => {
  const health = grpcHealth()
  health.set('a.A', true)
  expect(healthListFromProto(await unary(health, 'List', new Uint8Array()))).toEqual(
    new Map([
      ['', 'notServing'],
      ['a.A', 'serving'],
    ]),
  )
})

describe('Watch', () => {
  test('the current state is sent, then each change', async () => {
    const health = grpcHealth()
    health.set('a.A', true)
    const seen = watch(health, 'a.A')
    expect(await seen.states()).toEqual(['serving'])
    health.set('a.A', false)
    expect(await seen.states()).toEqual(['serving', 'notServing'])
    health.set('a.A', true)
    expect(await seen.states()).toEqual(['serving', 'notServing', 'serving'])
  })

  test('a state that did not change, and changes of other services, are not sent', async () => {
    const health = grpcHealth()
    health.set('a.A', true)
    const seen = watch(health, 'a.A')
    health.set('a.A', true)
    health.set('a.B', false)
    expect(await seen.states()).toEqual(['serving'])
  })

  test('a service that is not known yet is sent as unknown, then with its first state', async () => {
    const health = grpcHealth()
    const seen = watch(health, 'a.A')
    expect(await seen.states()).toEqual(['unknown'])
    health.set('a.A', true)
    expect(await seen.states()).toEqual(['unknown', 'serving'])
  })

  test('a client that reads slowly gets only the latest state', async () => {
    const health = grpcHealth()
    const seen = watch(health, '')
    seen.out.fallBehind()
    health.set('', true)
    await seen.states()
    health.set('', false)
    health.set('a.A', true)
    health.set('', true)
    health.set('', false)
    expect(await seen.states()).toEqual(['notServing', 'serving'])
    seen.out.catchUp()
    expect(await seen.states()).toEqual(['notServing', 'serving', 'notServing'])
  })

  test('the stream ends with its call and leaves no listener behind', async () => {
    const health = grpcHealth()
    const seen = watch(health, '')
    for (let i = 0; i < 20; i++) {
      health.set('', i % 2 === 0)
      await turn()
    }
    expect(getEventListeners(seen.call.signal, 'abort')).toHaveLength(1)
    seen.call.cancel()
    await seen.ended
    expect(getEventListeners(seen.call.signal, 'abort')).toHaveLength(0)
    health.set('', true)
    expect(await seen.states()).toHaveLength(21)
  })

  test('the stream ends with its call also while the client reads slowly', async () => {
    const health = grpcHealth()
    const seen = watch(health, '')
    seen.out.fallBehind()
    health.set('', true)
    await turn()
    seen.call.cancel()
    await expect(seen.ended).rejects.toMatchObject({ code: STATUS.cancelled })
  })
})

describe('drain()', () => {
  test('every service becomes NOT_SERVING, and stays so', async () => {
    const health = grpcHealth()
    health.set('', true)
    health.set('a.A', true)
    health.drain()
    health.set('', true)
    health.set('a.New', true)
    for (const name of ['', 'a.A', 'a.New']) expect(await check(health, name)).toBe('notServing')
  })

  test('watchers get NOT_SERVING, then UNAVAILABLE, so that they do not delay a graceful stop', async () => {
    const health = grpcHealth()
    health.set('', true)
    const early = watch(health, '')
    const lost = watch(health, 'a.A')
    await turn()
    health.drain()
    const late = watch(health, '')
    for (const { ended } of [early, lost, late]) await expect(ended).rejects.toMatchObject({ code: STATUS.unavailable })
    expect(await early.states()).toEqual(['serving', 'notServing'])
    expect(await lost.states()).toEqual(['unknown'])
    expect(await late.states()).toEqual(['notServing'])
  })
})

const check = async (health: GrpcHealth, service: string): Promise<Serving> =>
  servingFromProto(await unary(health, 'Check', healthRequestToProto(service)))

async function unary(health: GrpcHealth, name: string, request: Uint8Array): Promise<Uint8Array> {
  const method: Method | undefined = health.service.methods[name]
  if (method?.kind !== 'unary') throw new Error(`${name} is not unary`)
  return method.handle(request, fakeCall())
}

function watch(health: GrpcHealth, service: string) {
  const call = fakeCall()
  const out = fakeOutgoing(call)
  const method = health.service.methods.Watch
  if (method?.kind !== 'serverStreaming') throw new Error('Watch does not stream')
  const ended = Promise.resolve(method.handle(healthRequestToProto(service), out, call))
  const states = async () => {
    await turn()
    return out.messages.map(servingFromProto)
  }
  return { call, out, ended, states }
}
