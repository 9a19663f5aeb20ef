import { expect, test } from 'vitest'
import type { Task } from '../queue/records.ts'
import type { HeldLeases } from '../workers/records.ts'
import { linkLease, unlinkLease } from './grant-lease.ts'
import { type AttemptLease, heldTasks, LeaseTable } from './lease-table.ts'

test('heldTasks returns a copy that does not change when a lease ends', () => {
  const held: HeldLeases = { firstHeld: undefined, lastHeld: undefined, firstStaged: undefined, staged: 0 }
  const tasks = ['one', 'two', 'three'].map((id) => ({ id }) as Task)
  const table = new LeaseTable()
  const terms = { workerId: 'w1', epoch: 1, grantedAt: 0, staged: false, charged: 0 }
  const leases = tasks.map((task, counter) => table.open(task, { ...terms, counter }))
  for (const lease of leases) linkLease(held, lease)
  const seen: string[] = []
  for (const task of heldTasks({ leases: table }, held)) {
    seen.push(task.id)
    unlinkLease(held, leases[tasks.indexOf(task)] as AttemptLease)
  }
  expect(seen).toEqual(['one', 'two', 'three'])
  expect(held.firstHeld).toBeUndefined()
})
