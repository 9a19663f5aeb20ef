import { expect, test } from 'vitest'
import { sameUser, userPerRoom } from './room-users.ts'

test('each open room has a user of its own, and a closed one leaves its user to another', () => {
  const users = userPerRoom(5000)
  const [one, two] = [users.take(), users.take()]
  expect([one.user, two.user]).toEqual([
    { uid: 5000, gid: 5000 },
    { uid: 5001, gid: 5001 },
  ])
  one.release()
  expect(users.take().user?.uid).toBe(5000)
  expect(users.take().user?.uid).toBe(5002)
})

test('one user may be that of all rooms', () => {
  const users = sameUser({ uid: 7, gid: 8 })
  expect([users.take().user, users.take().user]).toEqual([
    { uid: 7, gid: 8 },
    { uid: 7, gid: 8 },
  ])
  expect(sameUser(undefined).take().user).toBeUndefined()
})
