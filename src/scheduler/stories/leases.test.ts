import { expect, test } from 'vitest'
import { linux, story } from './story.fixture.ts'

test('a task goes to a free worker, runs and completes', () => {
  const grid = story().worker('w1', linux).submits('compile', { needs: linux })
  expect(grid).toShow(`compile  assigned to w1  attempt 1
                       w1       BUSY`)
  expect(grid.starts('compile')).toShow('compile running on w1')
  expect(grid.finishes('compile')).toShow(`compile  completed
                                           w1       ONLINE`)
})

test('a worker without a heartbeat for heartbeatTimeoutMs loses its task, and another worker gets it', () => {
  const grid = story({ heartbeatTimeoutMs: 30_000 }).worker('w1', linux).submits('compile').starts('compile')
  grid.worker('w2', linux).beats('w2')
  expect(grid.after('31s')).toShow(`compile  assigned to w2  attempt 2
                                    w1       gone
                                    w2       BUSY`)
})

test('a worker that sends heartbeats keeps its task longer than leaseMs', () => {
  const grid = story({ leaseMs: 20_000 }).worker('w1', linux).submits('compile').starts('compile').beats('w1')
  expect(grid.after('10m')).toShow('compile  running on w1')
})

test('a heartbeat with a list renews the listed leases and ends the others', () => {
  const grid = story().worker('w1', linux, { slots: 2 }).submits('kept').submits('dropped')
  grid.starts('kept').starts('dropped')
  const { task, fencing } = grid.attempt('kept')
  grid.after('11s').happens({ kind: 'heartbeat', worker: 'w1', holds: [{ task, fencing }] })
  expect(grid).toShow(`kept     running on w1
                       dropped  retrying`)
  expect(grid.after('1s')).toShow('dropped  assigned to w1  attempt 2')
})

test('a heartbeat does not end a lease that may not have reached the worker', () => {
  const grid = story().worker('w1', linux).submits('compile')
  grid.happens({ kind: 'heartbeat', worker: 'w1', holds: [] })
  expect(grid).toShow('compile  assigned to w1')
  grid.after('11s').happens({ kind: 'heartbeat', worker: 'w1', holds: [] })
  expect(grid).toShow('compile  retrying')
})

test('a heartbeat that was sent before a task started does not end the task', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile')
  grid.happens({ kind: 'heartbeat', worker: 'w1', holds: [] })
  expect(grid).toShow('compile  running on w1')
})

test('a worker that lists an attempt without a lease must stop it', () => {
  const grid = story().worker('w1', linux)
  grid.happens({ kind: 'heartbeat', worker: 'w1', holds: [{ task: 'old', fencing: { epoch: 1, counter: 9 } }] })
  expect(grid.log.at(-1)).toEqual({
    kind: 'stop',
    task: 'old',
    worker: 'w1',
    fencing: { epoch: 1, counter: 9 },
    why: 'superseded',
  })
})

test('a result under an old fencing number is recorded, and not applied', () => {
  const grid = story({ heartbeatTimeoutMs: 30_000 }).worker('w1', linux).submits('compile').starts('compile')
  const late = grid.attempt('compile')
  grid.worker('w2', linux).beats('w2').after('31s')
  grid.happens({ kind: 'finished', ...late, outcome: { kind: 'result', succeeded: true } })
  expect(grid.log.at(-1)).toEqual({ kind: 'superseded', ...late })
  expect(grid).toShow('compile  assigned to w2')
  expect(grid.finishes('compile')).toShow('compile  completed')
  expect(grid.count('finished')).toBe(1)
})

test('another worker cannot report for the one that has the lease', () => {
  const grid = story().worker('w1', linux).worker('w2', linux).submits('compile')
  const { task, fencing, worker } = grid.attempt('compile')
  const other = worker === 'w1' ? 'w2' : 'w1'
  grid.happens({ kind: 'finished', task, fencing, worker: other, outcome: { kind: 'result', succeeded: true } })
  expect(grid).toShow(`compile  assigned to ${worker}`)
})

test('the same result twice is applied once', () => {
  const grid = story().worker('w1', linux).submits('compile')
  const attempt = grid.attempt('compile')
  grid.finishes('compile').happens({ kind: 'finished', ...attempt, outcome: { kind: 'result', succeeded: true } })
  expect(grid.count('finished')).toBe(1)
  expect(grid.count('superseded')).toBe(1)
})

test('leases expire only in a tick: events that waited during a stall are applied first', () => {
  const grid = story({ heartbeatTimeoutMs: 30_000 }).worker('w1', linux).submits('compile').starts('compile')
  grid.now = 40_000
  grid.submits('other')
  expect(grid).toShow('compile  running on w1')
  grid.happens({ kind: 'heartbeat', worker: 'w1' }).happens({ kind: 'tick' })
  expect(grid).toShow(`compile  running on w1
                       w1       BUSY`)
})

test('a worker that reconnects within the disconnect grace keeps its tasks', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile')
  const { task, fencing } = grid.attempt('compile')
  grid.happens({ kind: 'disconnected', worker: 'w1' }).submits('next').after('9s')
  expect(grid).toShow(`compile  running on w1
                       next     queued`)
  grid.worker('w1', linux, { slots: 2, running: [{ task, fencing }] })
  expect(grid).toShow('next  assigned to w1')
  expect(grid.finishes('compile')).toShow('compile  completed')
})

test('a worker that does not reconnect within the disconnect grace loses its tasks', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile')
  grid.happens({ kind: 'disconnected', worker: 'w1' }).worker('w2', linux)
  expect(grid.after('11s')).toShow(`w1       gone
                                    compile  assigned to w2  attempt 2`)
})

test('a worker that registers again without its tasks loses them', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile').worker('w1', linux)
  expect(grid).toShow('compile  assigned to w1  attempt 2')
})

test('the scheduler ends a lease whose worker does not report the time-out', () => {
  const grid = story().worker('w1', linux).beats('w1').submits('loop', { timeoutMs: 5000 }).starts('loop')
  expect(grid.after('14s')).toShow('loop  running on w1')
  expect(grid.after('2s')).toShow('loop  queued  attempt 2')
  expect(grid.log.some((effect) => effect.kind === 'stop' && effect.why === 'timeout')).toBe(true)
})

test('an unknown worker that sends a heartbeat gets the order to register', () => {
  const grid = story().happens({ kind: 'heartbeat', worker: 'w9' })
  expect(grid.log).toEqual([{ kind: 'order', worker: 'w9', order: 'register' }])
})

test('a worker that is not ready gets no task before its first heartbeat', () => {
  const grid = story().worker('w1', linux, { notReady: true }).submits('compile')
  expect(grid).toShow(`w1       REGISTERING
                       compile  queued`)
  expect(grid.happens({ kind: 'heartbeat', worker: 'w1' })).toShow('compile  assigned to w1')
})

test('a pulling worker gets tasks only in answer to a request', () => {
  const grid = story().worker('w1', linux, { slots: 4, pulls: true }).submits('a').submits('b').submits('c')
  expect(grid).toShow('a  queued')
  grid.happens({ kind: 'ask', worker: 'w1', tasks: 2 })
  expect(grid).toShow(`a  assigned to w1
                       b  assigned to w1
                       c  queued`)
  grid.happens({ kind: 'ask', worker: 'w1', tasks: 3 }).submits('d')
  expect(grid, 'the question was answered with c').toShow(`c  assigned to w1
                                                          d  queued`)
})

test('a withdrawn request gets no tasks', () => {
  const grid = story().worker('w1', linux, { pulls: true }).happens({ kind: 'ask', worker: 'w1', tasks: 1 })
  grid.happens({ kind: 'ask', worker: 'w1', tasks: 0 }).submits('compile')
  expect(grid).toShow('compile  queued')
})

test('fencing numbers increase, and contain the epoch of the start', () => {
  const grid = story({ epoch: 7 }).worker('w1', linux).submits('a').submits('b').finishes('a').finishes('b')
  const numbers = grid.log.flatMap((effect) => (effect.kind === 'leased' ? [effect.fencing] : []))
  expect(numbers).toEqual([
    { epoch: 7, counter: 1 },
    { epoch: 7, counter: 2 },
  ])
})

test('a result of an earlier attempt does not finish a later attempt on the same worker', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile')
  const old = grid.attempt('compile')
  grid.worker('w1', linux)
  expect(grid.attempt('compile').worker).toBe(old.worker)
  grid.happens({ kind: 'finished', ...old, outcome: { kind: 'result', succeeded: true } })
  expect(grid.log.at(-1)).toEqual({ kind: 'superseded', ...old })
  expect(grid).toShow('compile  assigned to w1  attempt 2')
  grid.happens({ kind: 'started', ...old })
  expect(grid.log.at(-1)).toEqual({ kind: 'stop', ...old, why: 'superseded' })
})
