import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HeldLease, HeldLeases } from '../workers/records.ts'
import { linkLease, moveToSlot, unlinkLease } from './grant-lease.ts'

const newLease = (number: number): HeldLease => ({
  number,
  staged: false,
  nextHeld: undefined,
  previousHeld: undefined,
})

/** The linked list must equal these two lists. */
interface Expected {
  readonly running: HeldLease[]
  readonly staged: HeldLease[]
}

const forward = ({ firstHeld }: HeldLeases): HeldLease[] => {
  const found: HeldLease[] = []
  for (let lease = firstHeld; lease !== undefined; lease = lease.nextHeld) found.push(lease)
  return found
}

const backward = ({ lastHeld }: HeldLeases): HeldLease[] => {
  const found: HeldLease[] = []
  for (let lease = lastHeld; lease !== undefined; lease = lease.previousHeld) found.unshift(lease)
  return found
}

const same = (some: readonly HeldLease[], others: readonly HeldLease[]): boolean =>
  some.length === others.length && some.every((lease, i) => lease === others[i])

function step(held: HeldLeases, { running, staged }: Expected, [what, pick]: readonly [string, number]): void {
  const all = [...running, ...staged]
  const lease = what.startsWith('hold') ? newLease(pick) : all[pick % Math.max(1, all.length)]
  if (lease === undefined) return
  if (what === 'let go') {
    unlinkLease(held, lease)
    const list = lease.staged ? staged : running
    list.splice(list.indexOf(lease), 1)
  } else if (what === 'unstage') {
    if (!lease.staged) return
    moveToSlot(held, lease)
    staged.splice(staged.indexOf(lease), 1)
    running.push(lease)
  } else {
    lease.staged = what === 'hold staged'
    linkLease(held, lease)
    if (lease.staged) staged.push(lease)
    else running.push(lease)
  }
}

test('leases with a slot come first and staged ones follow, oldest first, after any sequence of changes', () => {
  const whats = fc.constantFrom('hold', 'hold staged', 'let go', 'unstage')
  fc.assert(
    fc.property(fc.array(fc.tuple(whats, fc.nat(1000)), { maxLength: 60 }), (steps) => {
      const held: HeldLeases = { firstHeld: undefined, lastHeld: undefined, firstStaged: undefined, staged: 0 }
      const expected: Expected = { running: [], staged: [] }
      for (const one of steps) {
        step(held, expected, one)
        const all = [...expected.running, ...expected.staged]
        expect(same(forward(held), all) && same(backward(held), all)).toBe(true)
        expect(held.firstStaged).toBe(expected.staged[0])
        expect(held.staged).toBe(expected.staged.length)
      }
    }),
  )
})
