import { expect, test } from 'vitest'
import { pendingWrites } from './engine-state.ts'

test('idle resolves when the last write is done, also when another write began meanwhile', async () => {
  const writes = pendingWrites()
  let isIdle = false
  writes.begin()
  writes.begin()
  const idle = writes.idle().then(() => {
    isIdle = true
  })
  writes.done()
  await Promise.resolve()
  expect(isIdle).toBe(false)
  writes.done()
  writes.begin() // before idle's loop checks again
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(isIdle).toBe(false)
  writes.done()
  await idle
  expect(isIdle).toBe(true)
})

test('idle resolves at once without pending writes', async () => {
  await expect(pendingWrites().idle()).resolves.toBeUndefined()
})
