import { expect, test } from 'vitest'
import { linux, story, windows } from './story.fixture.ts'

test('a task goes only to a worker that offers its properties', () => {
  const grid = story().worker('w1', linux).worker('w2', windows).submits('a', { needs: windows })
  expect(grid).toShow('a  assigned to w2')
})

test('groups, labels, runtimes and languages are properties like any other', () => {
  const grid = story().worker('w1', { group: 'eu', runtime: 'docker', language: ['python', 'go'] })
  grid.worker('w2', { group: 'us', runtime: 'bare', language: ['python'] })
  expect(grid.submits('a', { needs: { group: 'us' } })).toShow('a  assigned to w2')
  expect(grid.submits('b', { needs: { language: 'go', runtime: 'docker' } })).toShow('b  assigned to w1')
})

test('a worker that offers * for a name gets tasks with any value', () => {
  const grid = story()
    .worker('w1', { 'container-image': '*' })
    .submits('a', { needs: { 'container-image': 'x:1' } })
  expect(grid).toShow('a  assigned to w1')
})

test('property names and values are not confused when they are joined', () => {
  const grid = story()
    .worker('w1', { a: 'x', b: 'y' })
    .submits('real', { needs: { a: 'x', b: 'y' } })
    .finishes('real')
  const grid2 = grid.submits('forged', { needs: { a: 'x1:b1:y' } })
  expect(grid2).toShow('forged  queued')
})

test('processors, memory and disk are reserved and returned', () => {
  const grid = story().worker('w1', linux, { slots: 8, resources: { cpu: 4, memoryBytes: 100 } })
  grid.submits('a', { demands: { cpu: 3 } }).submits('b', { demands: { cpu: 2 } })
  expect(grid).toShow(`a  assigned to w1
                       b  queued`)
  expect(grid.submits('c', { demands: { cpu: 1, memoryBytes: 60 } })).toShow('c  assigned to w1')
  expect(grid.finishes('a')).toShow('b  assigned to w1')
  expect(grid.submits('d', { demands: { memoryBytes: 60 } })).toShow('d  queued')
  expect(grid.finishes('c')).toShow('d  assigned to w1')
})

test('fractions of a processor are added without rounding errors', () => {
  const grid = story().worker('w1', linux, { slots: 20, resources: { cpu: 1 } })
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10; i++) grid.submits(`t${round}${i}`, { demands: { cpu: 0.1 } })
    for (let i = 0; i < 10; i++) expect(grid).toShow(`t${round}${i}  assigned to w1`)
    for (let i = 0; i < 10; i++) grid.finishes(`t${round}${i}`)
  }
})

test('small tasks overtake a large one until, after reserveAfterMs, a worker is kept free for it', () => {
  const grid = story({ reserveAfterMs: 5000 })
    .worker('w1', linux, { slots: 4, resources: { cpu: 4 } })
    .beats('w1')
  for (const small of ['a', 'b', 'c', 'd']) grid.submits(small, { demands: { cpu: 1 } })
  grid.submits('large', { demands: { cpu: 4 } })
  for (const more of ['e', 'f', 'g', 'h', 'i', 'j']) grid.submits(more, { demands: { cpu: 1 } })
  grid.finishes('a')
  expect(grid, 'there is a gap, and e fits').toShow('e  assigned to w1')
  grid.after('6s').finishes('b').finishes('c').finishes('d')
  expect(grid, 'now the worker is kept').toShow('f  queued')
  expect(grid.core.why('large', grid.now)[1]).toContain('worker w1 is kept free')
  expect(grid.finishes('e')).toShow(`large  assigned to w1
                                     f      queued`)
  expect(grid.finishes('large')).toShow('f  assigned to w1')
})

test('a worker that is kept free for a task is released when the task is cancelled', () => {
  const grid = story({ reserveAfterMs: 5000 })
    .worker('w1', linux, { slots: 4, resources: { cpu: 4 } })
    .beats('w1')
  grid.submits('a', { demands: { cpu: 3 } }).submits('large', { demands: { cpu: 4 } })
  grid
    .submits('b', { demands: { cpu: 1 } })
    .finishes('b')
    .after('6s')
    .submits('c', { demands: { cpu: 1 } })
  expect(grid).toShow('c  queued')
  expect(grid.cancels('large')).toShow('c  assigned to w1')
})

test('tasks that were queued before the first worker go to the class that serves them', () => {
  const grid = story()
  for (let i = 0; i < 6; i++) grid.submits(`l${i}`, { needs: linux }).submits(`w${i}`, { needs: windows })
  grid.submits('any')
  grid.worker('lin', linux, { slots: 6 }).worker('win', windows, { slots: 7 })
  for (let i = 0; i < 6; i++) {
    expect(grid).toShow(`l${i}  assigned to lin
                         w${i}  assigned to win`)
  }
  expect(grid).toShow('any  assigned to win')
})

test('the order of arrival is kept when a new worker class splits a pool', () => {
  const grid = story()
  for (let i = 0; i < 5; i++) {
    grid.now = i
    grid.submits(`t${i}`, { needs: i % 2 === 0 ? linux : { ...linux, arch: 'arm' } })
  }
  // This part has more tasks, so the other part moves.
  for (let i = 0; i < 9; i++) grid.submits(`elsewhere${i}`, { needs: windows })
  grid.worker('w1', { ...linux, arch: 'arm' })
  for (let i = 0; i < 5; i++) {
    expect(grid).toShow(`t${i}  assigned to w1`)
    grid.finishes(`t${i}`)
  }
})

test('a task that fits no registered worker does not block others', () => {
  const grid = story()
    .worker('small', linux, { resources: { cpu: 5 } })
    .submits('a', { demands: { cpu: 5 } })
  grid.worker('large', linux, { resources: { cpu: 7 } }).submits('b', { demands: { cpu: 6 } })
  grid.submits('huge', { demands: { cpu: 6 } }).submits('next', { demands: { cpu: 5 } })
  grid.happens({ kind: 'unregister', worker: 'large' })
  expect(grid.finishes('a')).toShow(`next  assigned to small
                                     huge  queued`)
  expect(grid.beats('small').after('61s')).toShow('huge  failed: no worker is large enough')
})

test('the order of the properties makes no difference', () => {
  const grid = story().worker('w1', { aa: '1', b: '2' })
  grid.submits('one', { needs: { aa: '1', b: '2' } }).submits('other', { needs: { b: '2', aa: '1' } })
  expect([...grid.core.figures().bySignature.values()]).toEqual([{ queued: 1, active: 1 }])
})
