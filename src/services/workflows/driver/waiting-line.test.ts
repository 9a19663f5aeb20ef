import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { waitingLine } from './waiting-line.ts'

test('at most as many run as there are places, and the rest in order of arrival', async () => {
  const two = waitingLine(2)
  const begun: string[] = []
  const enter = (name: string, count: number) =>
    two.enter(count).then((leave) => {
      begun.push(name)
      return leave
    })
  const [first, second, large, small] = [enter('first', 1), enter('second', 1), enter('large', 5), enter('small', 1)]
  await setImmediate()
  expect(begun).toEqual(['first', 'second'])
  const leave = await first
  leave()
  leave() // a second call has no effect
  await setImmediate()
  expect(begun).toEqual(['first', 'second']) // large needs all places, and is not overtaken
  const leaveSecond = await second
  leaveSecond()
  await setImmediate()
  expect(begun).toEqual(['first', 'second', 'large'])
  const leaveLarge = await large
  leaveLarge()
  await small
})
