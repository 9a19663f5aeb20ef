/** A bulk thread: hashes what it is sent, decompressing it first where it is zstd, several blobs in turn. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { createHasher, prepareHashing } from '../../base/hashing/create-hasher.ts'
import { mayUnpackTo } from '../../base/unpack-limit.ts'
import { decompressing } from '../zstd.ts'
import { inLists } from './in-lists.ts'
import type { FromBulkThread, ToBulkThread } from './thread-messages.ts'

interface Task {
  take(bytes: Uint8Array, used: () => void): void
  end(): void
  cancel(): void
}

function hashing(
  { id, fn, maxSize }: Extract<ToBulkThread, { kind: 'begin' }>,
  say: (message: FromBulkThread) => void,
): Task {
  const hasher = createHasher(fn)
  let size = 0
  return {
    take(bytes, used) {
      size += bytes.length
      if (size <= maxSize) hasher.update(bytes)
      used()
    },
    end: () => say(size > maxSize ? { kind: 'refused', id } : { kind: 'found', id, hash: hasher.digest(), size }),
    cancel() {},
  }
}

function unpacking(
  { id, fn, maxSize }: Extract<ToBulkThread, { kind: 'begin' }>,
  say: (message: FromBulkThread) => void,
): Task {
  const queue: { bytes: Uint8Array; used(): void }[] = []
  let isEnded = false
  let wake: (() => void) | undefined
  let isRefused = false
  let taken = 0
  async function* pieces(): AsyncGenerator<Uint8Array> {
    while (true) {
      const next = queue.shift()
      if (next === undefined && isEnded) return
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      taken += next.bytes.length
      try {
        yield next.bytes
      } finally {
        next.used() // also when no more bytes are requested
      }
    }
  }
  const run = async (): Promise<void> => {
    const hasher = createHasher(fn)
    let size = 0
    for await (const piece of decompressing(pieces())) {
      size += piece.length
      if (size > maxSize) throw new Error('larger than it may be') // stops decompressing: it might never end
      if (!mayUnpackTo(size, taken, maxSize)) throw new Error('it unpacks to too much for its length')
      hasher.update(piece)
    }
    say({ kind: 'found', id, hash: hasher.digest(), size })
  }
  run().catch(() => {
    isRefused = true
    say({ kind: 'refused', id })
    for (const { used } of queue.splice(0)) used()
  })
  return {
    take(bytes, used) {
      if (isRefused) used()
      else queue.push({ bytes, used })
      wake?.()
    },
    end() {
      isEnded = true
      wake?.()
    },
    cancel() {
      for (const { used } of queue.splice(0)) used()
      isEnded = true
      wake?.()
    },
  }
}

function serve(port: MessagePort): void {
  const slabs: Uint8Array[] = []
  const tasks = new Map<number, Task>()
  const say = inLists<FromBulkThread>((list) => port.postMessage(list), queueMicrotask)
  const hear = (message: ToBulkThread): void => {
    switch (message.kind) {
      case 'slab':
        slabs[message.slab] = new Uint8Array(message.memory)
        return
      case 'begin':
        tasks.set(message.id, (message.form === 'zstd' ? unpacking : hashing)(message, say))
        return
      case 'bytes': {
        const { id, slab, bytes } = message
        const used = () => say({ kind: 'used', id, slab })
        const task = tasks.get(id)
        if (task === undefined) used()
        else task.take((slabs[slab] as Uint8Array).subarray(0, bytes), used)
        return
      }
      case 'end':
        tasks.get(message.id)?.end()
        tasks.delete(message.id)
        return
      case 'cancel':
        tasks.get(message.id)?.cancel()
        tasks.delete(message.id)
    }
  }
  port.on('message', (list: readonly ToBulkThread[]) => list.forEach(hear))
}

await prepareHashing()
if (parentPort !== null) serve(parentPort)
