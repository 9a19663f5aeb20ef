import { expect, test } from 'vitest'
import { linux, story, windows } from './story.fixture.ts'

test('a full queue refuses tasks with queue-full and retryAfterMs', () => {
  const grid = story({ maxQueued: 1 }).submits('first').submits('second')
  expect(grid).toShow('second  refused: queue full: 1 of 1 tasks queued')
  expect(grid.log.at(-1)).toMatchObject({ why: 'queue-full', retryAfterMs: expect.any(Number) })
})

test('tasks are accepted while all workers are busy', () => {
  const grid = story({ maxQueued: 5 }).worker('w1', linux).submits('runs')
  for (const task of ['a', 'b', 'c', 'd', 'e']) expect(grid.submits(task)).toShow(`${task}  queued`)
})

test('the limit of unfinished tasks applies to each instance separately', () => {
  const grid = story({ limitsOf: { small: { unfinished: 2 } } }).worker('w1', linux)
  grid
    .submits('one', { instance: 'small' })
    .submits('two', { instance: 'small' })
    .submits('three', { instance: 'small' })
  expect(grid).toShow(`one    assigned to w1
                       two    queued
                       three  refused: instance "small" has reached its limit of 2 unfinished tasks`)
  expect(grid.submits('other', { instance: 'large' })).toShow('other  queued')
  expect(grid.finishes('one').submits('again', { instance: 'small' })).toShow('again  queued')
})

test('the rate limit of an instance refuses tasks with rate and retryAfterMs', () => {
  const grid = story({ limits: { perSecond: 2 } })
    .submits('a')
    .submits('b')
    .submits('c')
  expect(grid).toShow('c  refused: instance "" has reached its limit of 2 new tasks per second')
  expect(grid.log.at(-1)).toMatchObject({ why: 'rate', retryAfterMs: 500 })
  expect(grid.after('500ms').submits('d')).toShow('d  queued')
})

test('an instance named like a property of Object.prototype has the default limits', () => {
  expect(story().submits('one', { instance: 'constructor' })).toShow('one  queued')
})

test('a task that no worker fits fails after the grace time, with the missing property', () => {
  const grid = story().worker('w1', linux).beats('w1').submits('compile', { needs: windows })
  expect(grid.after('59s')).toShow('compile  queued')
  expect(grid.core.why('compile', grid.now)).toEqual(['waiting: no worker offers OSFamily=windows; fails in 1 s'])
  expect(grid.after('2s')).toShow('compile  failed: no worker offers OSFamily=windows')
})

test('a worker that registers within the grace time gets the task', () => {
  const grid = story().worker('w1', linux).beats('w1').submits('compile', { needs: windows }).after('50s')
  expect(grid.worker('w2', windows)).toShow('compile  assigned to w2')
})

test('after a restart, the grace time counts from the start of the server', () => {
  const grid = story({ startedAt: 0 }).restores('old', { ageMs: 1e9 })
  expect(grid.after('59s')).toShow('old  is not there')
  expect(grid.core.stateOf('old')).toBe('queued')
  expect(grid.after('2s')).toShow('old  failed: no worker is registered')
})

test('the grace time begins when the last worker that fits leaves', () => {
  const grid = story().worker('w1', linux).beats('w1').submits('a').submits('b', { needs: linux }).after('5m')
  grid.happens({ kind: 'unregister', worker: 'w1' })
  expect(grid.after('59s')).toShow('b  queued')
  expect(grid.after('2s')).toShow('b  failed: no worker is registered')
})

test('with refuseUnknownProperties, a property name that no worker ever offered is refused', () => {
  const grid = story({ refuseUnknownProperties: true })
    .worker('w1', linux)
    .submits('typo', { needs: { OSFamilly: 'linux' } })
  expect(grid).toShow('typo  refused: no worker has ever offered a property named OSFamilly')
  expect(grid.log.at(-1)).not.toHaveProperty('retryAfterMs')
})

test('by default, a task with an unknown property waits for the first worker that offers it', () => {
  const needs = { accelerator: 'a100' }
  const grid = story().worker('w1', linux).beats('w1').submits('train', { needs }).submits('late', { needs })
  expect(grid.after('59s')).toShow('train  queued')
  expect(grid.worker('gpu', { ...linux, ...needs }).beats('gpu')).toShow('train  assigned to gpu')
  const never = story().worker('w1', linux).beats('w1').submits('train', { needs }).after('61s')
  expect(never).toShow('train  failed: no worker offers accelerator=a100')
  const empty = story().submits('train', { needs }).after('61s')
  expect(empty).toShow('train  failed: no worker is registered; the task needs accelerator=a100')
})

test('poolGraceMs replaces the grace time for a property', () => {
  const poolGraceMs = { 'pool=gpu': 600_000, pool: 120_000, zone: 5000, constructor: 1 }
  const failsWithin = (needs: Readonly<Record<string, string>>): number => {
    const grid = story({ poolGraceMs }).worker('w1', linux).beats('w1').submits('task', { needs })
    for (let seconds = 5; seconds <= 700; seconds += 5)
      if (grid.after('5s').shown.get('task')?.text.startsWith('failed')) return seconds
    return Number.POSITIVE_INFINITY
  }
  expect(failsWithin({ gpu: 'yes' }), 'no pool of its own').toBe(60)
  expect(failsWithin({ pool: 'gpu' })).toBe(600)
  expect(failsWithin({ pool: 'large' }), 'any value').toBe(120)
  expect(failsWithin({ zone: 'b' }), 'shorter than others').toBe(5)
  expect(failsWithin({ pool: 'gpu', zone: 'b' }), 'the longest counts').toBe(600)
})

test('before the first worker registers, no property is refused', () => {
  expect(story({ refuseUnknownProperties: true }).submits('early', { needs: { gpu: 'a100' } })).toShow('early  queued')
})

test('property names that were offered before a restart are known', () => {
  const grid = story({ refuseUnknownProperties: true, namesOffered: ['gpu'] })
    .worker('w1', linux)
    .submits('train', { needs: { gpu: 'a100' } })
  expect(grid).toShow('train  queued')
})

test('a task that is larger than every worker fails with the largest amount', () => {
  const grid = story()
    .worker('w1', linux, { resources: { cpu: 6 } })
    .beats('w1')
    .submits('huge', { demands: { cpu: 7 } })
  expect(grid.submits('next', { demands: { cpu: 6 } }), 'and it is in nobody’s way').toShow('next  assigned to w1')
  expect(grid.after('61s')).toShow(
    'huge  failed: no worker is large enough: the task needs cpu 7, the largest worker has cpu 6',
  )
})

test('a task that waits for a larger worker goes to it when it registers', () => {
  const grid = story()
    .worker('w1', linux, { resources: { cpu: 6 } })
    .submits('huge', { demands: { cpu: 7 } })
  expect(grid.worker('w2', linux, { resources: { cpu: 7.5 } })).toShow('huge  assigned to w2')
})

test('properties must all be offered by one worker', () => {
  const grid = story().worker('w1', { a: '1' }).worker('w2', { b: '1' }).beats('w1', 'w2')
  grid.submits('both', { needs: { a: '1', b: '1' } })
  expect(grid.after('61s')).toShow('both  failed: no worker offers all of a=1, b=1')
})

test('a task id that is in use is refused as duplicate', () => {
  expect(story().submits('one').submits('one').log.at(-1)).toMatchObject({ kind: 'refused', why: 'duplicate' })
})

test('a negative or NaN demand is refused as invalid', () => {
  for (const cpu of [Number.NaN, -1]) {
    const grid = story().submits('odd', { demands: { cpu } })
    expect(grid.log.at(-1)).toMatchObject({ kind: 'refused', why: 'invalid' })
  }
})
