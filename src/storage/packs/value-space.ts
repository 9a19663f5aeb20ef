import { hashOf } from '../../base/hashing/hash-of.ts'
import { tagOf } from '../index/tag.ts'
import { NONE } from './catalogue.ts'
import type { SpaceTools } from './pack-space.ts'
import { REPLACE } from './pack-writer.ts'
import { VALUE_PROOF_BYTES, VALUE_SPACE } from './proof.ts'
import type { Key } from './record-format.ts'

/** Values under names of 32 bytes. A new value replaces the old one, and values are evicted like blobs. */
export interface ValueStore {
  get(name: Uint8Array): Promise<Uint8Array | undefined>
  put(name: Uint8Array, value: Uint8Array): Promise<void>
}

const VALUE_TAG = tagOf(VALUE_SPACE, 'sha256')

const keyOf = (name: Uint8Array): Key => ({ tag: VALUE_TAG, hash: name, at: 0, width: 32, size: 0 })

export const valueSpace = ({ catalogue, reader, writer, room, wrote }: SpaceTools): ValueStore => ({
  async get(name) {
    const key = keyOf(name)
    for (;;) {
      const record = catalogue.find(key)
      if (record === NONE) return undefined
      catalogue.touch(record)
      const place = { pack: catalogue.index.pack(record), unit: catalogue.index.offset(record) }
      const stored = await reader.payloadWhole(record, key)
      // A value that is replaced while it is read in several pieces may be a mix of old and new: it is read again.
      if (catalogue.isAt(record, place)) return stored?.subarray(VALUE_PROOF_BYTES)
    }
  },
  async put(name, value) {
    await room.wait(value.length)
    const batch = writer.add(keyOf(name), 'identity', Buffer.concat([hashOf('sha256', value), value]), REPLACE)
    wrote(value.length)
    await batch.done
  },
})
