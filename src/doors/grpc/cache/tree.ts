import type { Digest } from '../../../base/digest.ts'
import { digestListOf } from '../../../base/digest-list.ts'
import { FaultError, invalid } from '../../../base/fault.ts'
import { eachInTurns, turn } from '../../../base/in-turns.ts'
import type { ServerCall, ServerStreamingMethod } from '../../../grpc/service.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { directoryGroup, MOST_DIRECTORIES, readWhole } from '../../../storage/read-blobs.ts'
import { directoryReferences } from '../../../wire/hot/digest-reader.ts'
import { getTreeResponse, readGetTreeRequest, treeEntryLength } from '../../../wire/hot/get-tree.ts'

const MAX_RESPONSE_BYTES = 2 * 1024 * 1024

/**
 * All directories below a root, each once, parents before children. The order is always the same, so a page token is
 * the number of directories before the page. An absent directory is left out, with its descendants.
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
    for await (const directory of walk(instances(instance).blobs, rootDigest, call)) {
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

async function* walk(blobs: BlobStore, root: Digest, call: ServerCall): AsyncGenerator<Uint8Array> {
  const waiting: Digest[] = [root]
  const known = new Set([root.hash])
  const wait = (child: Digest): void => {
    if (known.has(child.hash)) return
    if (known.size >= MOST_DIRECTORIES) throw invalid(`the tree has more than ${MOST_DIRECTORIES} directories`)
    known.add(child.hash)
    waiting.push(child)
  }
  for (let at = 0; at < waiting.length; ) {
    if (call.cancelled) throw new FaultError({ kind: 'cancelled', what: 'the call ended before its tree was read' })
    const group = directoryGroup(waiting, at)
    const found = await readWhole(digestListOf(root.fn, group), blobs)
    if (at === 0 && found[0] === undefined) {
      throw new FaultError({ kind: 'absent', what: `no directory ${root.hash}/${root.size}` })
    }
    at += group.length
    for (const directory of found) {
      if (directory === undefined) continue
      yield directory
      await eachInTurns(directoryReferences(directory, root.fn).directoryDigests(), wait)
    }
    if (at < waiting.length) await turn()
  }
}
