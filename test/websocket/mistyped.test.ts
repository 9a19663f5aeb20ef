import { describe, expect, test } from 'vitest'
import { eventually } from '../../src/testing/eventually.ts'
import { roundTrip, startSocketGrid } from './socket-grid.ts'

describe('a WebSocket message with a mistyped field', () => {
  test('is answered with the field and its problem, and the connection stays open', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    const { operation } = await grid.submit()
    const task = await worker.hears()
    const wrong: [object, object][] = [
      [
        { type: 'result', taskId: 5, success: true },
        { refused: 'result', field: 'taskId' },
      ],
      [
        { type: 'result', taskId: operation, output: 5 },
        { refused: 'result', field: 'output', taskId: operation },
      ],
      [
        { type: 'result', taskId: operation, exitCode: '0' },
        { refused: 'result', field: 'exitCode' },
      ],
      [{ type: 5 }, { field: 'type' }],
      [
        { type: 'heartbeat', clientId: ['w'] },
        { refused: 'heartbeat', field: 'clientId' },
      ],
      [
        { type: 'heartbeat', clientId: '\u001b[2J' },
        { refused: 'heartbeat', field: 'clientId' },
      ],
    ]
    for (const [message, answer] of wrong) {
      worker.send(message)
      expect(await worker.hears()).toMatchObject({ type: 'error', message: expect.stringMatching(/./), ...answer })
    }
    worker.finish(task)
    expect((await grid.end(operation)).status).toMatchObject({ state: 'completed', attempt: 1 })
    expect(worker.socket.readyState).toBe(worker.socket.OPEN)
  })

  test('is still accepted as a heartbeat, without that field', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w', { load: { maxConcurrent: 3, cpuUsage: 'low' }, status: 7 })
    expect(await worker.hears()).toMatchObject({ type: 'error', refused: 'heartbeat', field: 'load.cpuUsage' })
    await eventually(() => expect(grid.stateOf('w')).toBe('ONLINE'))
    expect(grid.engine.workers.list()).toMatchObject([{ worker: 'w', slots: 3 }])
    worker.heartbeat({ capabilities: Array(201).fill('x'), load: { maxConcurrent: 3 }, status: 'fine' })
    expect(await worker.hears()).toMatchObject({ type: 'error', field: 'capabilities' })
    await grid.submit()
    expect(await worker.hears()).toMatchObject({ type: 'execute' })
  })

  test('is a rejected result: without a correction in ten seconds the task is retried elsewhere', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    const { operation } = await grid.submit()
    const task = await worker.hears()
    worker.finish(task, { output: ['wrong'] })
    expect(await worker.hears()).toMatchObject({ type: 'error', field: 'output' })
    const other = await grid.worker('other')
    await eventually(() => expect(grid.stateOf('other')).toBe('ONLINE'))
    worker.heartbeat({ status: 'draining' }) // otherwise the task may be assigned to it again
    await eventually(() => expect(grid.stateOf('w')).toBe('DRAINING'))
    grid.clock.advance(9000)
    await roundTrip(other)
    expect(other.unheard).toEqual([])
    await eventually(() => {
      grid.clock.advance(1000)
      other.heartbeat()
      worker.heartbeat({ status: 'draining' })
      expect(other.unheard).toHaveLength(1)
    })
    other.finish(await other.hears())
    expect((await grid.end(operation)).status).toMatchObject({ state: 'completed', worker: 'other', attempt: 2 })
  })

  test('closes the socket with 1008 when it is sent 100 times', async () => {
    const grid = await startSocketGrid()
    const worker = await grid.worker('w')
    for (let i = 0; i < 100; i++) worker.send({ type: 'result', taskId: 5 })
    expect(await worker.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('result.taskId') })
  })
})
