import { describe, expect, test } from 'vitest'
import { FakeDuplex } from '../../testing/fake-duplex.ts'
import { Outbox } from './outbox.ts'

const SLAB = 256 * 1024

function put(outbox: Outbox, bytes: number, value: number): void {
  outbox.reserve(bytes)
  outbox.buffer.fill(value, outbox.end, outbox.end + bytes)
  outbox.end += bytes
}

const filled = (bytes: number, value: number): Buffer => Buffer.alloc(bytes, value)

describe('Outbox', () => {
  test('sends all queued bytes in one write', () => {
    const socket = new FakeDuplex()
    const outbox = new Outbox(socket.asDuplex())
    put(outbox, 10, 1)
    put(outbox, 20, 2)
    expect(outbox.backlog).toBe(30)
    expect(socket.writes).toBe(0)
    outbox.flush()
    expect(socket.writes).toBe(1)
    expect(socket.taken()).toEqual(Buffer.concat([filled(10, 1), filled(20, 2)]))
    expect(outbox.backlog).toBe(0)
    outbox.flush()
    expect(socket.writes).toBe(1)
  })

  test('counts bytes that the socket has not written as backlog', () => {
    const socket = new FakeDuplex()
    socket.stall()
    const outbox = new Outbox(socket.asDuplex())
    put(outbox, 100, 1)
    outbox.flush()
    put(outbox, 50, 2)
    expect(outbox.backlog).toBe(150)
    socket.take()
    expect(outbox.backlog).toBe(50)
  })

  test('never overwrites bytes that the socket has not written', () => {
    const socket = new FakeDuplex()
    socket.stall()
    const outbox = new Outbox(socket.asDuplex())
    const expected: Buffer[] = []
    for (let i = 1; i <= 60; i++) {
      put(outbox, 30_000, i)
      expected.push(filled(30_000, i))
      if (i % 3 === 0) outbox.flush()
      if (i % 7 === 0) socket.take(1)
      if (i % 20 === 0) socket.take()
    }
    outbox.flush()
    socket.take()
    expect(socket.spoilt).toBe(0)
    expect(Buffer.compare(socket.taken(), Buffer.concat(expected))).toBe(0)
  })

  test('does not share a slab with another connection before the socket has written all of it', () => {
    const sockets = [new FakeDuplex(), new FakeDuplex(), new FakeDuplex()]
    const outboxes = sockets.map((socket) => new Outbox(socket.asDuplex()))
    for (let round = 0; round < 50; round++) {
      for (const [i, outbox] of outboxes.entries()) {
        const socket = sockets[i] as FakeDuplex
        if (round % (i + 2) === 0) socket.stall()
        put(outbox, 1 + ((round * 7919) % 100_000), round + i)
        outbox.flush()
        if (round % (i + 3) === 0) socket.flow()
      }
    }
    for (const socket of sockets) socket.flow()
    expect(sockets.map(({ spoilt }) => spoilt)).toEqual([0, 0, 0])
  })

  test('reuses the same slab after all of its bytes were written', () => {
    const outbox = new Outbox(new FakeDuplex().asDuplex())
    put(outbox, 100, 1)
    const { buffer } = outbox
    outbox.flush()
    put(outbox, 100, 2)
    expect(outbox.buffer).toBe(buffer)
    expect(outbox.end).toBe(100)
  })

  test('holds no slab while nothing is queued', () => {
    const outbox = new Outbox(new FakeDuplex().asDuplex())
    put(outbox, 100, 1)
    outbox.flush()
    expect(outbox.buffer.length).toBe(0)
  })

  test('accepts a piece larger than a slab', () => {
    const socket = new FakeDuplex()
    const outbox = new Outbox(socket.asDuplex())
    put(outbox, 10, 1)
    put(outbox, SLAB + 1, 2)
    put(outbox, 10, 3)
    outbox.flush()
    expect(socket.taken()).toEqual(Buffer.concat([filled(10, 1), filled(SLAB + 1, 2), filled(10, 3)]))
  })

  test('starts a new slab when one is full, and keeps the order', () => {
    const socket = new FakeDuplex()
    socket.stall()
    const outbox = new Outbox(socket.asDuplex())
    const pieces = [SLAB - 10, 20, SLAB, 1, SLAB - 1, 2]
    for (const [i, size] of pieces.entries()) put(outbox, size, i + 1)
    outbox.flush()
    socket.take()
    expect(socket.spoilt).toBe(0)
    const expected = Buffer.concat(pieces.map((size, i) => filled(size, i + 1)))
    expect(Buffer.compare(socket.taken(), expected)).toBe(0)
  })

  test('does not recycle its slabs after abandon(), because the socket may still hold them', () => {
    const socket = new FakeDuplex()
    socket.stall()
    const outbox = new Outbox(socket.asDuplex())
    put(outbox, 1000, 1)
    outbox.flush()
    outbox.abandon()
    const other = new Outbox(new FakeDuplex().asDuplex())
    for (let i = 0; i < 100; i++) put(other, 5000, 9)
    socket.take()
    expect(socket.spoilt).toBe(0)
    expect(outbox.backlog).toBe(0)
  })
})
