import { describe, expect, test } from 'vitest'
import type { ServerCall, UnaryMethod } from '../../grpc/service.ts'
import { fakeCall } from '../../testing/grpc-call.ts'
import { makingRoomForEcho, remakingForRoom } from './make-room.ts'

/** A call with or without room; records the requested sizes. */
function callWith(room: Promise<void> | undefined): { call: ServerCall; asked: number[] } {
  const asked: number[] = []
  const note = (bytes: number) => {
    asked.push(bytes)
    return room
  }
  return { call: { ...fakeCall(), room: note }, asked }
}

/** Returns a response that is one byte longer each time. */
function growing(): { method: UnaryMethod; runs: () => number } {
  let runs = 0
  return { method: { kind: 'unary', handle: async () => Buffer.alloc(++runs) }, runs: () => runs }
}

const request = Buffer.from('request')

describe('response whose size is known only after it was made', () => {
  test('the response is sent unchanged when there is room', async () => {
    const { method, runs } = growing()
    const { call, asked } = callWith(undefined)
    expect(await remakingForRoom(method).handle(request, call)).toHaveLength(1)
    expect([asked, runs()]).toEqual([[1], 1])
  })

  test('the response is made again when room was missing, after there is room', async () => {
    const { method, runs } = growing()
    const room = Promise.withResolvers<void>()
    const answer = remakingForRoom(method).handle(request, callWith(room.promise).call)
    await Promise.resolve()
    expect(runs()).toBe(1)
    room.resolve()
    expect(await answer).toHaveLength(2)
  })

  test('no room is requested for a response that was made synchronously', () => {
    const { call, asked } = callWith(undefined)
    expect(remakingForRoom({ kind: 'unary', handle: (bytes) => bytes }).handle(request, call)).toBe(request)
    expect(asked).toEqual([])
  })
})

test('an echoing method begins when there is room for as many bytes as its request has', async () => {
  const { method, runs } = growing()
  const room = Promise.withResolvers<void>()
  const { call, asked } = callWith(room.promise)
  const answer = makingRoomForEcho(method).handle(request, call)
  expect([asked, runs()]).toEqual([[request.length], 0])
  room.resolve()
  expect(await answer).toHaveLength(1)
})
