import type { Digest } from '../../base/digest.ts'
import { digestAt, digestListOf } from '../../base/digest-list.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { ServerStreamingMethod } from '../../grpc/service.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { getTreeResponse, readGetTreeRequest, treeEntryLength } from '../../wire/hot/get-tree.ts'
import { directoryReferences } from '../../wire/hot/references.ts'
import { readWhole } from './held.ts'
import type { Instances } from './instances.ts'

const MAX_RESPONSE_BYTES = 2 * 1024 * 1024
/** A tree of directories that anybody may have uploaded: walking it must end. */
const MAX_DIRECTORIES = 1_000_000

/**
 * All directories below a root, each once, parents before children. The order is the same every time, so a page token
 * is how many came before; a directory that is not there is left out with what is only below it.
 */
export const getTree = (instances: Instances): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const { instance, rootDigest, pageSize, pageToken } = readGetTreeRequest(
      bytes,
      (name) => instances(name).unnamedFunction,
    )
    const skipped = skippedBy(pageToken)
    const mostPerPage = pageSize === 0 ? Number.POSITIVE_INFINITY : pageSize
    let seen = 0
    let page: Uint8Array[] = []
    let pageBytes = 0
    await call.room(MAX_RESPONSE_BYTES)
    for await (const directory of walk(instances(instance).blobs, rootDigest)) {
      if (seen++ < skipped) continue
      const length = treeEntryLength(directory.length)
      const isFull = page.length >= mostPerPage || (page.length > 0 && pageBytes + length > MAX_RESPONSE_BYTES)
      if (isFull) {
        if (!out.write(getTreeResponse(page, String(seen - 1)))) await out.drained()
        await call.room(MAX_RESPONSE_BYTES)
        page = []
        pageBytes = 0
      }
      page.push(directory)
      pageBytes += length
    }
    out.write(getTreeResponse(page, ''))
  },
})

function skippedBy(pageToken: string): number {
  if (pageToken === '') return 0
  if (!/^[1-9][0-9]{0,8}$/.test(pageToken)) throw invalid('page_token is not one of ours')
  return Number(pageToken)
}

async function* walk(blobs: BlobStore, root: Digest): AsyncGenerator<Uint8Array> {
  let level: readonly Digest[] = [root]
  const known = new Set([root.hash])
  while (level.length > 0) {
    const found = await readWhole(digestListOf(root.fn, level), blobs)
    if (level[0] === root && found[0] === undefined) {
      throw new FaultError({ kind: 'absent', what: `no directory ${root.hash}/${root.size}` })
    }
    const next: Digest[] = []
    for (const directory of found) {
      if (directory === undefined) continue
      yield directory
      const children = directoryReferences(directory, root.fn).directoryDigests()
      for (let index = 0; index < children.count; index++) {
        const child = digestAt(children, index)
        if (known.has(child.hash)) continue
        known.add(child.hash)
        next.push(child)
      }
    }
    if (known.size > MAX_DIRECTORIES) throw invalid(`the tree has more than ${MAX_DIRECTORIES} directories`)
    level = next
  }
}
