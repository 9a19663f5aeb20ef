import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cpuFiguresIn, foreignLoad, ownCpuFigures } from './cpu-pressure.ts'
import { enter, pidsIn, tryRemove } from './group-files.ts'
import { ownGroups } from './own-groups.ts'

const ZERO = { stalledMs: 0, usedMs: 0 }
const over10s = (stalledMs: number, usedMs: number) =>
  foreignLoad({ before: ZERO, after: { stalledMs, usedMs }, elapsedMs: 10_000, cpus: 2 })

describe('foreign load that a worker reports', () => {
  test.each([
    ['an idle worker on a machine that its neighbours fill', [0, 0], 0],
    ['own tasks that take all processors, twice as many as there are', [10_000, 20_000], 0],
    ['own tasks that sleep', [0, 100], 0],
    ['own tasks that get half of what they wait for', [10_000, 10_000], 0.667],
    ['own tasks that get a quarter of what they wait for', [10_000, 5000], 1],
    ['own tasks that wait a tenth of the time', [1000, 2000], 0.12],
  ])('the load is computed for %s', (_, [stalledMs = 0, usedMs = 0], expected) => {
    expect(over10s(stalledMs, usedMs)).toBeCloseTo(expected, 2)
  })

  test('the load is 0 when no time has passed or counters went back', () => {
    expect(foreignLoad({ before: ZERO, after: ZERO, elapsedMs: 0, cpus: 2 })).toBe(0)
    const before = { stalledMs: 900, usedMs: 900 }
    expect(foreignLoad({ before, after: ZERO, elapsedMs: 1000, cpus: 2 })).toBe(0)
  })
})

test('the PSI total and usage_usec are read, and missing figures give undefined', () => {
  const pressure = 'some avg10=97.20 avg60=95.94 avg300=94.22 total=3803689220\nfull avg10=0.00 total=5\n'
  expect(cpuFiguresIn(pressure, 'usage_usec 5000\nuser_usec 1\n')).toEqual({ stalledMs: 3_803_689.22, usedMs: 5 })
  expect(cpuFiguresIn('', 'usage_usec 5000\n')).toBeUndefined()
  expect(cpuFiguresIn(pressure, '')).toBeUndefined()
})

const NAME = `test-pressure-${process.pid}`

function start(program: string, args: readonly string[]): number {
  const child = spawn(program, args, { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child.pid ?? 0
}

test('neighbours that fill the machine add no load to a worker whose tasks do not wait for them', async ({ skip }) => {
  const groups = ownGroups(NAME)
  const unified = groups.find(({ version }) => version === 2)
  onTestFinished(async () => {
    for (const { path } of groups)
      for (let i = 0; i < 100 && !tryRemove(path); i++) {
        for (const pid of pidsIn(path)) process.kill(pid, 'SIGKILL')
        await sleep(50)
      }
  })
  if (unified === undefined) return skip('no control group of version 2 can be made here')
  enter(unified.path, start('sleep', ['60']))
  const before = ownCpuFigures(NAME)
  if (before === undefined) return skip('this kernel has no PSI')
  for (let i = 0; i < 4; i++) start('sh', ['-c', 'while :; do :; done'])
  await sleep(500)
  const after = ownCpuFigures(NAME)
  expect(after).toBeDefined()
  expect(foreignLoad({ before, after: after ?? before, elapsedMs: 500, cpus: 2 })).toBeLessThan(0.5)
})
