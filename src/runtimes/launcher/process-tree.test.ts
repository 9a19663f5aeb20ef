import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { tryRemove } from '../cgroups/group-files.ts'
import { ownGroups } from '../cgroups/own-groups.ts'
import { roomGroups } from '../cgroups/room-groups.ts'
import { testWhere } from '../run/rooms.fixture.ts'
import { groupTree } from './process-tree.ts'

const all = ownGroups(`test-tree-${process.pid}`)
const without = all.filter(({ controllers }) => !controllers.includes('memory'))
for (const { path } of all) if (!without.some((each) => each.path === path)) tryRemove(path)

const withoutMemory = testWhere(without.length > 0, 'every control group here keeps memory, or there is none')

withoutMemory('memory is sampled where the control group has no memory controller', async () => {
  const groups = roomGroups(without, (pid, signal) => void process.kill(pid, signal))
  const group = groups.create({ memoryBytes: 1 << 20, pids: undefined })
  const tree = groupTree(group)
  const child = group.forkInside(() => spawn('sleep', ['60'], { stdio: 'ignore' }))
  const ended = once(child, 'exit')
  expect(tree.needsLooks).toBe(true)
  expect(tree.look().memoryBytes).toBeGreaterThan(0)
  tree.kill()
  await ended
  for (let round = 0; round < 100 && !tree.isEmpty(); round++) await pause(10)
  const { how, peakMemoryBytes } = tree.total()
  expect(how).toBe('sampled')
  expect(peakMemoryBytes).toBeGreaterThan(0)
  tree.remove()
  groups.close()
})
