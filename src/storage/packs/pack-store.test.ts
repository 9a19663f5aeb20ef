import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import { manualClock } from '../../testing/manual-clock.ts'
import type { BlobStore } from '../blob-store.ts'
import { blobStoreContract } from '../contract.ts'
import type { FileLayer } from './file-layer.ts'
import { nodeFiles } from './node-files.ts'
import { unheardEvents } from './pack-events.ts'
import { type PackStore, type PackStoreOptions, packStore } from './pack-store.ts'

const openOn = (files: FileLayer, options: Partial<PackStoreOptions> = {}): Promise<PackStore> =>
  packStore({
    files,
    clock: manualClock(),
    events: unheardEvents,
    durability: 'process',
    maxBytes: 2 ** 40,
    ...options,
  })

/** Spaces of one store are separate: each test has its own space, and one store is enough. */
function spacesOf(options: Partial<PackStoreOptions>, from = 0): () => Promise<BlobStore> {
  let opened: Promise<PackStore> | undefined
  let path = ''
  let next = from
  afterAll(async () => {
    await (await opened)?.close()
    rmSync(path, { recursive: true })
  })
  return async () => {
    if (opened === undefined) path = mkdtempSync(join(tmpdir(), 'windlass-packs-'))
    opened ??= openOn(nodeFiles(path, process.pid), options)
    return (await opened).space(next++)
  }
}

describe('pack store', () => {
  blobStoreContract('packs on disk', spacesOf({ packBytes: 4_000_000 }))
  blobStoreContract('packs on disk that outlive the power', spacesOf({ durability: 'power' }, 200))
  blobStoreContract('packs on disk that check every read', spacesOf({ verifyReads: 'always', soloBytes: 100_000 }))
  blobStoreContract('packs with hardly any memory for uploads', spacesOf({ gatherBytes: 1000 }))
})
