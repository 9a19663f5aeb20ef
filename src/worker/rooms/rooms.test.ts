import { expect, test } from 'vitest'
import { sameUser, userPerRoom } from './rooms.ts'

test('each open room has its own user, and a closed room frees its user for another room', () => {
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

test('sameUser gives all rooms the same user', () => {
  const users = sameUser({ uid: 7, gid: 8 })
  expect([users.take().user, users.take().user]).toEqual([
    { uid: 7, gid: 8 },
    { uid: 7, gid: 8 },
  ])
  expect(sameUser(undefined).take().user).toBeUndefined()
})
