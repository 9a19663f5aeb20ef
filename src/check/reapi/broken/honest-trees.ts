import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { type Digest, Directory } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Methods } from './methods.ts'
import { AVERAGE_CHUNK, type Profile, SMALLEST_CHUNK } from './profile.ts'
import { invalidArgument, notFound, type Store, storeKey } from './store.ts'

type TreeMethods = Pick<Methods, 'getTree' | 'splitBlob' | 'spliceBlob'>

const PAGE_DIRECTORIES = 100
const PAGE_BYTES = 1024 * 1024

/** This directory and all stored directories below it, each once. */
function walk(store: Store, root: Digest, digestFunction: number): { directory: Directory; bytes: number }[] {
  const found: { directory: Directory; bytes: number }[] = []
  const seen = new Set<string>()
  const waiting = [root]
  for (let digest = waiting.shift(); digest !== undefined; digest = waiting.shift()) {
    const key = storeKey(digest, digestFunction)
    const bytes = store.get(key)
    if (bytes === undefined || seen.has(key.text)) continue
    seen.add(key.text)
    const directory = Directory.decode(bytes)
    found.push({ directory, bytes: bytes.length })
    waiting.push(...directory.directories.flatMap((node) => node.digest ?? []))
  }
  return found
}

/** The start index of each page. */
function pageStarts(sizes: readonly number[], most: number): number[] {
  const starts = [0]
  let count = 0
  let total = 0
  sizes.forEach((size, index) => {
    if (count > 0 && (count === most || total + size > PAGE_BYTES)) {
      starts.push(index)
      count = 0
      total = 0
    }
    count++
    total += size
  })
  return starts
}

export const honestTrees = (store: Store, { split, splice }: Profile): TreeMethods => {
  const layouts = new Map<string, readonly Digest[]>()
  return {
    getTree({ rootDigest, pageSize, pageToken, digestFunction }) {
      const root = storeKey(rootDigest, digestFunction)
      if (!store.has(root)) throw notFound(`no root ${root.text}`)
      const found = walk(store, root.digest, digestFunction)
      const starts = pageStarts(
        found.map(({ bytes }) => bytes),
        pageSize > 0 ? pageSize : PAGE_DIRECTORIES,
      )
      const first = pageToken === '' ? 0 : starts.findIndex((start) => `from-${start}` === pageToken)
      if (first < 0) throw invalidArgument(`${pageToken} is no page token`)
      return starts.slice(first).map((start, index) => {
        const next = starts[first + index + 1]
        const directories = found.slice(start, next).map(({ directory }) => directory)
        return { directories, nextPageToken: next === undefined ? '' : `from-${next}` }
      })
    },
    splitBlob({ blobDigest, digestFunction, chunkingFunction }) {
      if (!split) throw new GrpcError(STATUS.unimplemented, 'no SplitBlob')
      const key = storeKey(blobDigest, digestFunction)
      const bytes = store.get(key)
      if (bytes === undefined) throw notFound(key.text)
      const layout = layouts.get(key.text)
      if (layout !== undefined) return { chunkDigests: layout, chunkingFunction: 0 }
      const size = chunkingFunction === 2 ? SMALLEST_CHUNK : AVERAGE_CHUNK
      const chunkDigests: Digest[] = []
      for (let at = 0; at < bytes.length; at += size) {
        const chunk = bytes.subarray(at, at + size)
        const digest = { hash: key.fn.hash(chunk), sizeBytes: chunk.length }
        store.put({ ...storeKey(digest, key.fn.number) }, chunk)
        chunkDigests.push(digest)
      }
      return { chunkDigests, chunkingFunction }
    },
    spliceBlob({ blobDigest, chunkDigests, digestFunction }) {
      if (!splice) throw new GrpcError(STATUS.unimplemented, 'no SpliceBlob')
      const key = storeKey(blobDigest, digestFunction)
      const chunks = chunkDigests.map((digest) => {
        const bytes = store.get(storeKey(digest, digestFunction))
        if (bytes === undefined) throw notFound(`chunk ${digest.hash}`)
        return bytes
      })
      store.put(key, Buffer.concat(chunks))
      layouts.set(key.text, chunkDigests)
      return { blobDigest: key.digest }
    },
  }
}
