import { expect, test } from 'vitest'
import { memoryActionCache } from './memory-action-cache.ts'
import { readOnlyActions } from './read-only-actions.ts'

const action = { fn: 'sha256', hash: 'ab'.repeat(32), size: 142 } as const

test('readOnlyActions serves stored results, and refuses put as denied', async () => {
  const inner = memoryActionCache()
  await inner.put('fixed', action, Buffer.from('exit 0'))
  const cache = readOnlyActions(inner)
  expect(await cache.get('fixed', action)).toEqual(new Uint8Array(Buffer.from('exit 0')))
  await expect(cache.put('fixed', action, Buffer.from('exit 1'))).rejects.toMatchObject({
    fault: { kind: 'denied', what: expect.stringContaining('instance "fixed" are read-only') },
  })
  await expect(cache.put('', action, Buffer.from('exit 1'))).rejects.toThrow('the unnamed instance')
  expect(await cache.get('fixed', action)).toEqual(new Uint8Array(Buffer.from('exit 0')))
})
