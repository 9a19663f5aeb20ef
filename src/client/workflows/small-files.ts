import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'

/** The server defines what is small, up to this limit. */
const LINE = /^[0-9a-f]{64}\/([0-9]{1,7})$/
const MOST_LINE_BYTES = 72
const NEW_LINE = 10

/**
 * Writes a stream of files into a folder; each is a line `HASH/SIZE` followed by its bytes. Only requested and verified
 * files are kept. Returns their paths by hash.
 */
export async function smallFilesIn(
  body: AsyncIterable<Uint8Array>,
  digests: readonly Digest[],
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  const open = new Map(digests.map((digest) => [formatDigest(digest), digest]))
  const paths = new Map<string, string>()
  const take = (name: string, bytes: Uint8Array): void => {
    const digest = open.get(name)
    if (digest === undefined || !open.delete(name)) return
    if (digestOf(digest.fn, bytes).hash !== digest.hash) throw strange()
    const path = join(folder, digest.hash)
    writeFileSync(path, bytes, { flag: 'wx', mode: 0o644 })
    paths.set(digest.hash, path)
  }
  let held = Buffer.alloc(0)
  for await (const piece of body) {
    held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece])
    for (let one = firstIn(held); one !== undefined; one = firstIn(held)) {
      take(one.name, one.bytes)
      held = held.subarray(one.end)
    }
  }
  if (held.length > 0) throw strange()
  return paths
}

/** Undefined while it is not whole. */
function firstIn(held: Buffer): { readonly name: string; readonly bytes: Buffer; readonly end: number } | undefined {
  const line = held.indexOf(NEW_LINE)
  if (line < 0 && held.length <= MOST_LINE_BYTES) return undefined
  const [name, size] = LINE.exec(held.toString('latin1', 0, Math.max(0, Math.min(line, MOST_LINE_BYTES + 1)))) ?? []
  if (name === undefined) throw strange()
  const end = line + 1 + Number(size)
  return held.length < end ? undefined : { name, bytes: held.subarray(line + 1, end), end }
}

const strange = (): FaultError =>
  new FaultError({ kind: 'unavailable', what: 'the server uses an encoding of outputs that this client does not know' })
