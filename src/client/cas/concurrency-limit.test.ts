import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { concurrencyLimit } from './concurrency-limit.ts'

test('a limit of 2 runs two tasks at once, and start() waits for a free place', async () => {
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

test('start() and done() reject with the first failure at once', async () => {
  const team = concurrencyLimit(2)
  await team.start(() => new Promise(() => {})) // never resolves
  await team.start(() => Promise.reject(new Error('first')))
  await expect(team.done()).rejects.toThrow('first')
  await expect(team.start(async () => {})).rejects.toThrow('first')
})
