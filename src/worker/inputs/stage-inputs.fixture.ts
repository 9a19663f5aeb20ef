import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { type ActionOptions, actionTask } from '../tasks.fixture.ts'
import { scratch } from '../trees.fixture.ts'
import type { BlobSource } from './blob-source.ts'
import { openFileCache } from './file-cache.ts'
import type { Placement } from './place-inputs.ts'
import { type InputOptions, inputStage } from './stage-inputs.ts'
import { storeSource } from './store-source.ts'

export const bulk = threadPool(1)
export const never = new AbortController().signal

export const commandWith = (root: Digest | undefined, more: ActionOptions = {}): CommandTask =>
  actionTask({ inputs: { root }, ...more })

interface Bench {
  readonly maxBytes?: number
  readonly placement?: Placement
  readonly more?: Partial<InputOptions>
  wrap?(source: BlobSource): BlobSource
}

/** A store, a cache and a function that makes rooms. */
export async function bench({
  maxBytes = 1 << 30,
  placement = 'link',
  more = {},
  wrap = (source) => source,
}: Bench = {}) {
  const folder = scratch()
  const store = memoryStore()
  const cache = await openFileCache(join(folder.path, 'cache'), maxBytes)
  const asked: string[] = []
  const plain = storeSource(store)
  const counting: BlobSource = {
    ...plain,
    readMany(digests, signal) {
      asked.push(...digests.map(formatDigest))
      return plain.readMany(digests, signal)
    },
    read(digest, signal) {
      asked.push(formatDigest(digest))
      return plain.read(digest, signal)
    },
  }
  const stage = inputStage({
    source: wrap(counting),
    cache,
    bulk,
    placement,
    user: undefined,
    rules: { mostNodes: 10_000, absoluteSymlinks: 'allowed' },
    directoryBytes: 1 << 20,
    ...more,
  })
  let rooms = 0
  const room = (): string => {
    const path = join(folder.path, `room-${rooms++}`)
    mkdirSync(path)
    return path
  }
  return { store, cache, stage, room, asked, folder: folder.path, [Symbol.dispose]: folder[Symbol.dispose] }
}
