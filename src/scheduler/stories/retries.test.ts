import { expect, test } from 'vitest'
import { linux, story } from './story.fixture.ts'

const noRetry = {
  maxRetries: 3,
  maxLostWorkers: 3,
  firstDelayMs: 1000,
  maxDelayMs: 60_000,
  onTimeout: false,
  onFailure: false,
}

test('a command that exits with 1 has a result and is not retried', () => {
  const grid = story().worker('w1', linux).submits('test').finishes('test', { kind: 'result', succeeded: false })
  expect(grid).toShow('test  completed')
})

test('a grid fault is retried with increasing delay', () => {
  const grid = story({ degradedShare: 1 }).worker('w1', linux).beats('w1').submits('compile').fails('compile')
  expect(grid).toShow('compile  retrying')
  expect(grid.after('900ms')).toShow('compile  retrying')
  expect(grid.after('100ms')).toShow('compile  assigned to w1  attempt 2')
  expect(grid.fails('compile').after('1900ms')).toShow('compile  retrying')
  expect(grid.after('100ms')).toShow('compile  assigned to w1  attempt 3')
})

test('after maxRetries faults the task fails with the last fault', () => {
  const grid = story().worker('w1', linux).beats('w1').submits('compile')
  for (let i = 0; i < 3; i++) grid.fails('compile').after('30s')
  expect(grid.fails('compile', 'no room')).toShow('compile  failed: no room (attempt 4, no retries left)')
})

test('a task can override maxRetries', () => {
  const grid = story().worker('w1', linux).submits('compile', { maxRetries: 0 }).fails('compile')
  expect(grid).toShow('compile  failed')
})

test('the delay between attempts is limited by maxDelayMs', () => {
  const retry = { ...noRetry, maxRetries: 20, maxDelayMs: 4000 }
  const grid = story({ retry, degradedShare: 1 }).worker('w1', linux).beats('w1').submits('compile')
  for (let i = 0; i < 8; i++) grid.fails('compile').after('4s')
  expect(grid).toShow('compile  assigned to w1  attempt 9')
})

test('a final fault ends the task at once', () => {
  const grid = story().worker('w1', linux).submits('compile')
  grid.finishes('compile', { kind: 'fault', what: 'an input is missing', final: true })
  expect(grid).toShow('compile  failed: an input is missing')
  expect(grid.log.find((effect) => effect.kind === 'finished')).toMatchObject({ why: 'hopeless' })
})

test('a task that was lost with more than maxLostWorkers workers fails', () => {
  const grid = story({ retry: { ...noRetry, maxLostWorkers: 1 } })
    .worker('w1', linux)
    .worker('w2', linux)
    .worker('w3', linux)
    .submits('bomb')
    .starts('bomb')
  const first = grid.holder('bomb') ?? ''
  grid.happens({ kind: 'disconnected', worker: first }).after('11s').starts('bomb')
  const second = grid.holder('bomb') ?? ''
  expect(second).not.toBe(first)
  grid.happens({ kind: 'disconnected', worker: second }).after('11s')
  expect(grid).toShow(`bomb  failed: lost with ${first} and ${second}`)
})

test('losing the same worker twice counts once', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile')
  grid.worker('w1', linux).starts('compile').worker('w1', linux)
  expect(grid).toShow('compile  assigned to w1  attempt 3')
})

test('an interactive task is never retried', () => {
  const grid = story().worker('w1', linux).worker('w2', linux).submits('shell', { interactive: true }).starts('shell')
  grid.happens({ kind: 'disconnected', worker: grid.holder('shell') ?? '' }).after('11s')
  expect(grid).toShow('shell  failed')
})

test('a time-out is retried only with onTimeout', () => {
  const submitted = (onTimeout: boolean) =>
    story({ retry: { ...noRetry, onTimeout } })
      .worker('w1', linux)
      .submits('loop')
      .finishes('loop', { kind: 'timeout' })
  expect(submitted(false)).toShow('loop  timeout')
  expect(submitted(true)).toShow('loop  retrying')
})

test('a failed command is retried with onFailure, and keeps the last result', () => {
  const retry = { ...noRetry, maxRetries: 1, onFailure: true }
  const grid = story({ retry }).worker('w1', linux).submits('flaky')
  grid.finishes('flaky', { kind: 'result', succeeded: false })
  expect(grid).toShow('flaky  retrying')
  expect(grid.after('1s').finishes('flaky', { kind: 'result', succeeded: false })).toShow('flaky  completed')
})

test('a task that a worker returns unstarted goes to another worker without a fault', () => {
  const grid = story().worker('w1', linux).submits('compile').worker('w2', linux)
  grid.happens({ kind: 'returned', what: 'the poll had ended', ...grid.attempt('compile') })
  expect(grid).toShow('compile  assigned to w2  attempt 2')
  expect(grid.count('retrying')).toBe(0)
})

test('returned tasks do not degrade a worker, undelivered ones do', () => {
  const returns = (undelivered: boolean) => {
    const grid = story().worker('w1', linux).submits('compile')
    for (let i = 0; i < 5; i++)
      grid.happens({ kind: 'returned', what: 'no thanks', undelivered, ...grid.attempt('compile') })
    return grid
  }
  expect(returns(false)).toShow('w1  BUSY')
  expect(returns(true)).toShow('w1  DEGRADED')
})

test('a retried task reports its faults, and keeps them after a restart', () => {
  const retry = { ...noRetry, maxRetries: 1 }
  const grid = story({ retry }).worker('w1', linux).submits('compile').fails('compile').after('1s')
  grid.happens({ kind: 'returned', what: 'leaving', ...grid.attempt('compile') })
  const told = grid.log.flatMap((effect) => (effect.kind === 'queued' ? [effect.faults] : []))
  expect(told, 'accepted, after the fault, handed back').toEqual([undefined, 1, 1])
  const later = story({ epoch: 2, retry }).worker('w1', linux).restores('compile', { faults: 1 })
  expect(later.fails('compile')).toShow('compile  failed')
})

test('tasks of a preempted worker are queued again without a fault', () => {
  const grid = story()
  for (const worker of ['s1', 's2', 's3', 's4']) grid.worker(worker, linux, { preemptible: true })
  grid.submits('compile')
  for (let i = 0; i < 3; i++) {
    grid.starts('compile').happens({ kind: 'preempted', worker: grid.holder('compile') ?? '' })
  }
  expect(grid.holder('compile')).toBeDefined()
  expect(grid.finishes('compile')).toShow('compile  completed')
  expect(grid.count('retrying')).toBe(0)
})

test('a task can refuse preemptible workers', () => {
  const grid = story().worker('spot', linux, { preemptible: true }).submits('precious', { refusesPreemptible: true })
  expect(grid).toShow('precious  queued')
  expect(grid.core.why('precious', 0)[0]).toContain('every worker that fits is preemptible')
  expect(grid.worker('own', linux)).toShow('precious  assigned to own')
})

test('tasks of a worker that unregisters are queued again', () => {
  const grid = story().worker('w1', linux).submits('compile').starts('compile').worker('w2', linux)
  expect(grid.happens({ kind: 'unregister', worker: 'w1' })).toShow(`w1       gone
                                                                     compile  assigned to w2`)
})

test('a task survives the loss of three workers and fails with the fourth', () => {
  const grid = story({ retry: { ...noRetry, maxRetries: 100 } })
  for (const worker of ['w1', 'w2', 'w3', 'w4', 'w5']) grid.worker(worker, linux).beats(worker)
  grid.submits('bomb')
  for (let i = 0; i < 3; i++) {
    const worker = grid.starts('bomb').holder('bomb') ?? ''
    grid.falls(worker).happens({ kind: 'disconnected', worker }).after('11s')
    expect(grid).toShow(`bomb  assigned`)
  }
  const worker = grid.starts('bomb').holder('bomb') ?? ''
  expect(grid.falls(worker).happens({ kind: 'disconnected', worker }).after('11s')).toShow('bomb  failed: lost with')
  expect(grid.log.find((effect) => effect.kind === 'finished')).toMatchObject({ why: 'poison' })
})

test('a task whose worker does not report its time-out is retried on another worker', () => {
  const grid = story().worker('w1', linux, { slots: 4 }).beats('w1').submits('loop', { timeoutMs: 1000 }).starts('loop')
  grid.worker('w2', linux).beats('w2').after('12s')
  expect(grid).toShow('loop  assigned to w2  attempt 2')
  expect(grid.log.find((effect) => effect.kind === 'retrying')).toMatchObject({
    what: 'worker w1 did not report the end of a task with a time-out of 1 s',
    lostWorkers: ['w1'],
  })
  expect(grid.starts('loop').finishes('loop', { kind: 'timeout' }), 'ran too long: a result').toShow('loop  timeout')
})

test('a task that failed on a worker is retried on another one, even if the first one is free', () => {
  const grid = story({ degradedShare: 1 }).worker('w1', linux).worker('w2', linux).submits('busy').submits('compile')
  const failing = grid.holder('compile') ?? ''
  const other = failing === 'w1' ? 'w2' : 'w1'
  grid.fails('compile').after('1s')
  expect(grid, 'it waits for the other').toShow('compile  queued  attempt 2')
  expect(grid.submits('small'), 'the first serves others meanwhile').toShow(`small  assigned to ${failing}`)
  expect(grid.finishes('busy')).toShow(`compile  assigned to ${other}  attempt 2`)
})

test('without another worker, the same worker gets the retry', () => {
  const grid = story({ degradedShare: 1 }).worker('w1', linux).submits('compile').fails('compile').after('1s')
  expect(grid).toShow('compile  assigned to w1  attempt 2')
})

test('a finished task is never reopened', () => {
  const retry = { ...noRetry, onFailure: true, onTimeout: true }
  const grid = story({ retry }).worker('w1', linux).beats('w1').submits('flaky')
  const first = grid.attempt('flaky')
  grid.finishes('flaky', { kind: 'result', succeeded: false })
  expect(grid.count('finished'), 'a retry is decided before the end is told').toBe(0)
  expect(grid.after('1s').finishes('flaky')).toShow('flaky  completed')
  for (const outcome of [
    { kind: 'timeout' },
    { kind: 'result', succeeded: false },
    { kind: 'fault', what: 'x' },
  ] as const)
    grid
      .happens({ kind: 'finished', ...first, outcome })
      .happens({ kind: 'finished', ...grid.attempt('flaky'), outcome })
  expect(grid.after('120s')).toShow('flaky  completed')
  expect([grid.count('finished'), grid.count('retrying')]).toEqual([1, 1])
})

test('reports of a preempted worker are ignored, and fifty preemptions do not fail a task', () => {
  const grid = story().submits('compile')
  for (let i = 0; i < 50; i++) {
    grid.worker(`s${i}`, linux, { preemptible: true }).starts('compile')
    const attempt = grid.attempt('compile')
    grid.happens({ kind: 'preempted', worker: `s${i}` })
    grid.happens({ kind: 'finished', ...attempt, outcome: { kind: 'result', succeeded: true } })
    expect(grid).toShow('compile  queued')
  }
  expect(grid.worker('own', linux).finishes('compile')).toShow('compile  completed')
  expect([grid.count('retrying'), grid.count('finished')]).toEqual([0, 1])
})
