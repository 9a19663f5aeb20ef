import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { FaultError, invalid } from '../../../base/fault.ts'
import type { Method } from '../../../grpc/service.ts'
import { STATUS } from '../../../grpc/status.ts'
import type { ReclaimGoal, ReclaimProgress, StorageFigures } from '../../../model/storage-figures.ts'
import { fakeCall, fakeOutgoing } from '../../../testing/grpc-call.ts'
import { figuresFromProto, reclaimProgressFromProto, reclaimRequestToProto } from '../../../wire/admin/storage.ts'
import { type StorageAdmin, storageAdmin } from './door.ts'

const FIGURES: StorageFigures = {
  blobs: 1,
  liveBytes: 2,
  diskBytes: 3,
  limitBytes: 4,
  packs: 5,
  pinnedBlobs: 6,
  evictedBlobs: 7,
  freedBytes: 8,
  openSeconds: 9,
  oldestTouchSeconds: undefined,
  isReclaiming: false,
}

const freed = (freedBytes: number, isDone = false): ReclaimProgress => ({
  ...{ diskBytes: 100 - freedBytes, freedBytes, copiedBytes: 0, evictedBlobs: 0, pinnedBytes: 0, openFileBytes: 0 },
  isDone,
})

/** A store that frees ten bytes at each step of the test. */
function slowStore() {
  let step = Promise.withResolvers<void>()
  const wishes: unknown[] = []
  const admin: StorageAdmin = {
    figures: async () => FIGURES,
    async reclaim(wish, { signal, progress }) {
      wishes.push(wish)
      const left = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new FaultError({ kind: 'cancelled', what: 'left' })))
      })
      for (let bytes = 10; bytes < 40; bytes += 10) {
        await Promise.race([step.promise, left])
        progress(freed(bytes))
      }
      return freed(40, true)
    },
  }
  return {
    admin,
    wishes,
    async step() {
      step.resolve()
      step = Promise.withResolvers<void>()
      await turn()
    },
  }
}

function reclaiming(admin: StorageAdmin, goal: ReclaimGoal | Uint8Array) {
  const call = fakeCall()
  const out = fakeOutgoing(call)
  const method = methodOf(admin, 'Reclaim')
  if (method.kind !== 'serverStreaming') throw new Error('Reclaim does not stream')
  const request = goal instanceof Uint8Array ? goal : reclaimRequestToProto({ goal, isDryRun: false })
  const ended = Promise.resolve().then(() => method.handle(request, out, call))
  ended.catch(() => {})
  return { call, out, ended, told: () => out.messages.map((bytes) => reclaimProgressFromProto(bytes).freedBytes) }
}

function methodOf(admin: StorageAdmin, name: string): Method {
  const method = storageAdmin(admin).methods[name]
  if (method === undefined) throw new Error(`no method ${name}`)
  return method
}

async function figures(request: Uint8Array): Promise<StorageFigures> {
  const method = methodOf(slowStore().admin, 'Figures')
  if (method.kind !== 'unary') throw new Error('Figures is not unary')
  return figuresFromProto(await method.handle(request, fakeCall()))
}

test('Figures returns the figures of the store, and refuses bytes that are no request', async () => {
  expect(await figures(new Uint8Array())).toEqual(FIGURES)
  await expect(figures(Uint8Array.of(1))).rejects.toMatchObject({ code: STATUS.invalidArgument })
})

describe('Reclaim', () => {
  test('the progress is streamed, and the last message is marked done', async () => {
    const store = slowStore()
    const { ended, told, out } = reclaiming(store.admin, { kind: 'size', toBytes: 60 })
    await turn()
    for (const seen of [[10], [10, 20], [10, 20, 30, 40]]) {
      await store.step()
      expect(told()).toEqual(seen)
    }
    await ended
    expect(store.wishes).toEqual([{ goal: { kind: 'size', toBytes: 60 }, isDryRun: false }])
    expect(out.messages.map((bytes) => reclaimProgressFromProto(bytes).isDone)).toEqual([false, false, false, true])
  })

  test('progress that a slow client does not read is skipped, but never the last message', async () => {
    const store = slowStore()
    const { ended, told, out } = reclaiming(store.admin, { kind: 'waste' })
    await turn()
    out.fallBehind()
    for (let i = 0; i < 3; i++) await store.step()
    await ended
    expect(told()).toEqual([10, 40])
  })

  test('a reclaim ends when its caller cancels', async () => {
    const store = slowStore()
    const { call, ended, told } = reclaiming(store.admin, { kind: 'age', olderThanSeconds: 1 })
    await turn()
    await store.step()
    call.cancel()
    await expect(ended).rejects.toMatchObject({ code: STATUS.cancelled })
    expect(told()).toEqual([10])
  })

  test('a second reclaim is refused with ALREADY_EXISTS', async () => {
    const admin: StorageAdmin = {
      ...slowStore().admin,
      reclaim: () => Promise.reject(invalid('under way already', 'exists')),
    }
    const { ended } = reclaiming(admin, { kind: 'waste' })
    await expect(ended).rejects.toMatchObject({ code: STATUS.alreadyExists, message: 'under way already' })
  })

  test.each([
    ['a goal below nothing', [0x08, ...Array(9).fill(0xff), 1]],
    ['two goals', [0x08, 1, 0x10, 1]],
    ['bytes that are no request', [0xff]],
  ])('%s is refused with INVALID_ARGUMENT before anything is freed', async (_, bytes) => {
    const store = slowStore()
    const { ended } = reclaiming(store.admin, Uint8Array.from(bytes))
    await expect(ended).rejects.toMatchObject({ code: STATUS.invalidArgument })
    expect(store.wishes).toEqual([])
  })
})
