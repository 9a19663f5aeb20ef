import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { concurrencyLimit } from './concurrency-limit.ts'

test('no more than so many work at once, and whoever hands out work waits for them', async () => {
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const team = concurrencyLimit(2)
  let begun = 0
  let busy = 0
  const handedOut = (async () => {
    for (const { promise } of gates) {
      await team.start(async () => {
        begun++
        expect(++busy).toBeLessThanOrEqual(2)
        await promise
        busy--
      })
    }
  })()
  for (const [i, { resolve }] of gates.entries()) {
    await turn()
    expect(begun).toBe(Math.min(5, i + 2))
    resolve()
  }
  await handedOut
  await team.done()
  expect([begun, busy]).toEqual([5, 0])
})

test('the first failure is told at once, to whoever starts more and to whoever waits', async () => {
  const team = concurrencyLimit(2)
  await team.start(() => new Promise(() => {})) // never ends
  await team.start(() => Promise.reject(new Error('first')))
  await expect(team.done()).rejects.toThrow('first')
  await expect(team.start(async () => {})).rejects.toThrow('first')
})
