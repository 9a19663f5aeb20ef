import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DigestFunction } from '../../base/digest.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { bufferBlob, fileBlob, type LocalBlob } from '../../client/cas/local-blob.ts'

/** Larger streams are not kept in memory until their length is known. */
const IN_MEMORY_BYTES = 4 * 1024 * 1024

/** A stream has no digest before its end: until then it is in memory or, when it is long, in a temporary file. */
export class Spool {
  #folder: string | undefined

  async take(pieces: AsyncIterable<Uint8Array>, fn: DigestFunction): Promise<LocalBlob> {
    const rest = pieces[Symbol.asyncIterator]()
    const early: Uint8Array[] = []
    let size = 0
    let next = await rest.next()
    for (; next.done !== true && size <= IN_MEMORY_BYTES; next = await rest.next()) {
      early.push(Buffer.from(next.value))
      size += next.value.length
    }
    if (next.done === true) {
      const bytes = Buffer.concat(early)
      return bufferBlob('-', digestOf(fn, bytes), bytes)
    }
    this.#folder ??= await mkdtemp(join(tmpdir(), 'windlass-put-'))
    const path = join(this.#folder, 'input')
    const file = await open(path, 'w', 0o600)
    try {
      for (const piece of early.splice(0)) await file.writeFile(piece)
      for (; next.done !== true; next = await rest.next()) await file.writeFile(next.value)
    } finally {
      await file.close()
    }
    return await fileBlob(path, fn, '-')
  }

  async remove(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true })
  }
}
