import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { roomUsers } from './room-users.ts'

const OWN = { uid: 65_521, gid: 65_521 }
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windlass-users-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const isRoot = process.getuid?.() === 0

test.skipIf(!isRoot)('a worker that is root gives each room its own uid, above the ranges of distributions', () => {
  const users = roomUsers({ backend: 'sandbox', user: OWN, uid: 0, folder })
  const [one, two] = [users.take().user?.uid ?? 0, users.take().user?.uid ?? 0]
  expect(one).toBeGreaterThanOrEqual(1_879_048_192)
  expect(two).toBe(one + 1)
  expect(readdirSync(folder)).toEqual([])
})

test.skipIf(!isRoot)('first_room_user sets the range, and must not overlap with real users', () => {
  const set = (firstRoomUser: number) => roomUsers({ backend: 'sandbox', user: OWN, uid: 0, folder, firstRoomUser })
  expect(set(300_000_000).take().user).toEqual({ uid: 300_000_000, gid: 300_000_000 })
  expect(() => set(65_000)).toThrow(/first_room_user: 65000 to 69095 overlap with ids in \/etc\/passwd/) // the range contains 65534, nobody
})

test.each([
  ['of an account that was named', { user: { uid: 1234, gid: 1234 } }],
  ['of a worker that is not root', { user: undefined, uid: 1000 }],
  ['of Apptainer', { backend: 'apptainer' as const }],
])('rooms %s share one user', (_, more) => {
  const options = { backend: 'sandbox' as const, user: OWN, uid: 0, folder, ...more }
  const users = roomUsers(options)
  expect([users.take().user, users.take().user]).toEqual([options.user, options.user])
})
