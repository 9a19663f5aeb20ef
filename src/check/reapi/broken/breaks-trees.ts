import { STATUS } from '../../../grpc/status.ts'
import type {
  Digest,
  Directory,
  GetTreeResponse,
  SplitBlobRequest,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { after, type Break, fail, misread, when } from './break.ts'
import type { Honest } from './honest.ts'
import { storeKey } from './store.ts'

const INVALID = STATUS.invalidArgument

const onePage = (directories: readonly Directory[]): GetTreeResponse[] => [{ directories, nextPageToken: '' }]
const all = (pages: readonly GetTreeResponse[]): Directory[] => pages.flatMap((page) => page.directories)
const children = (directories: readonly Directory[]): Digest[] =>
  directories.flatMap((each) => each.directories.flatMap(({ digest }) => digest ?? []))

export const treeBreaks = {
  'get-tree.implemented': when('getTree', () => true, fail(STATUS.unimplemented)),
  'get-tree.root': after('getTree', (pages) => onePage(all(pages).slice(1))),
  'get-tree.descendants': after('getTree', (pages) =>
    all(pages).length === 7 ? onePage(all(pages).slice(0, 3)) : pages,
  ),
  'get-tree.verbatim': after('getTree', (pages) => onePage(all(pages).map((each) => ({ ...each, symlinks: [] })))),
  'get-tree.shared-once': after('getTree', (pages) => {
    const hashes = children(all(pages)).map(({ hash }) => hash)
    const isShared = new Set(hashes).size < hashes.length
    return isShared ? onePage([...all(pages), ...all(pages).slice(-1)]) : pages
  }),
  'get-tree.missing-child': after('getTree', (pages, _, { store }) =>
    children(all(pages)).every((digest) => store.has(storeKey(digest))) ? pages : fail(STATUS.notFound)(),
  ),
  'get-tree.missing-root': when(
    'getTree',
    ({ rootDigest }, { store }) =>
      rootDigest !== undefined && store.sameHash(storeKey(rootDigest)) === undefined && rootDigest.sizeBytes > 0,
    () => onePage([]),
  ),
  'get-tree.deep': after('getTree', (pages) => (all(pages).length > 100 ? onePage(all(pages).slice(0, 100)) : pages)),
  'get-tree.message-size': after('getTree', (pages, { pageSize }) => (pageSize === 0 ? onePage(all(pages)) : pages)),
  'get-tree.page-size': misread('getTree', (request) => ({ ...request, pageSize: 0 })),
  'get-tree.page-token': misread('getTree', (request) => ({
    ...request,
    pageToken: request.pageToken.startsWith('from-') ? '' : request.pageToken,
  })),
  'get-tree.last-token': after('getTree', (pages, { pageSize }) =>
    pageSize === 0 ? pages.map((page) => ({ ...page, nextPageToken: 'from-0' })) : pages,
  ),
  'get-tree.bad-token': misread('getTree', (request) => ({
    ...request,
    pageToken: request.pageToken.startsWith('from-') ? request.pageToken : '',
  })),
} satisfies Partial<Record<BehaviourId, Break>>

/** Reports the requested chunking function and returns the blob as one chunk. */
const inOneChunk = (chunkingFunction: number): Break =>
  when(
    'splitBlob',
    (request: SplitBlobRequest) => request.chunkingFunction === chunkingFunction,
    ({ blobDigest, chunkingFunction: wanted }) => ({
      chunkDigests: blobDigest === undefined ? [] : [blobDigest],
      chunkingFunction: wanted,
    }),
  )

const isThere = (digest: Digest | undefined, { store }: Honest): boolean =>
  digest !== undefined && store.has(storeKey(digest))

export const splitBreaks = {
  'split.concatenates': after('splitBlob', (answer) => ({ ...answer, chunkDigests: answer.chunkDigests.toReversed() })),
  'split.chunks-stored': after('splitBlob', (answer) => ({
    ...answer,
    chunkDigests: [...answer.chunkDigests, { hash: 'f'.repeat(64), sizeBytes: 5 }],
  })),
  'split.same-function': after('splitBlob', (answer) => ({
    ...answer,
    chunkDigests: answer.chunkDigests.map(({ hash, sizeBytes }) => ({ hash: hash.slice(0, 40), sizeBytes })),
  })),
  'split.absent': when(
    'splitBlob',
    ({ blobDigest }, honest) => blobDigest !== undefined && !isThere(blobDigest, honest),
    () => ({ chunkDigests: [], chunkingFunction: 0 }),
  ),
  'split.any-chunking': when('splitBlob', ({ chunkingFunction }) => chunkingFunction !== 0, fail(INVALID)),
  'split.no-digest': when('splitBlob', ({ blobDigest }) => blobDigest === undefined, fail(STATUS.notFound)),
  'split.fast-cdc-sizes': inOneChunk(1),
  'split.rep-max-cdc-sizes': inOneChunk(2),
} satisfies Partial<Record<BehaviourId, Break>>

export const spliceBreaks = {
  'splice.joins': when(
    'spliceBlob',
    ({ blobDigest, chunkDigests }, { store }) =>
      blobDigest !== undefined && chunkDigests.every((digest) => store.has(storeKey(digest))),
    ({ blobDigest }) => ({ blobDigest }),
  ),
  'splice.digest': after('spliceBlob', () => ({ blobDigest: undefined })),
  'splice.repeated-chunk': when(
    'spliceBlob',
    ({ chunkDigests }) => new Set(chunkDigests.map(({ hash }) => hash)).size < chunkDigests.length,
    fail(INVALID),
  ),
  'splice.mismatch': (honest) => ({
    spliceBlob(request) {
      try {
        return honest.methods.spliceBlob(request)
      } catch (error) {
        const areThere = request.chunkDigests.every((digest) => isThere(digest, honest))
        if (request.blobDigest === undefined || !areThere) throw error
        return { blobDigest: request.blobDigest }
      }
    },
  }),
  'splice.mismatch-not-stored': (honest) => ({
    spliceBlob(request) {
      const chunks = request.chunkDigests.map((digest) => honest.store.get(storeKey(digest)) ?? new Uint8Array())
      if (request.blobDigest !== undefined) honest.store.force(storeKey(request.blobDigest), Buffer.concat(chunks))
      return honest.methods.spliceBlob(request)
    },
  }),
  'splice.missing-chunk': when(
    'spliceBlob',
    ({ chunkDigests }, honest) => !chunkDigests.every((digest) => isThere(digest, honest)),
    fail(STATUS.failedPrecondition),
  ),
  'splice.existing': when(
    'spliceBlob',
    ({ blobDigest }, honest) => isThere(blobDigest, honest),
    fail(STATUS.failedPrecondition),
  ),
  'splice.no-digest': when(
    'spliceBlob',
    ({ blobDigest }) => blobDigest === undefined,
    ({ chunkDigests }) => ({ blobDigest: chunkDigests[0] }),
  ),
  'splice.then-split': (honest) => {
    const spliced = new Set<string>()
    return {
      spliceBlob(request) {
        spliced.add(request.blobDigest?.hash ?? '')
        return honest.methods.spliceBlob(request)
      },
      splitBlob: (request) =>
        spliced.has(request.blobDigest?.hash ?? '') ? fail(STATUS.notFound)() : honest.methods.splitBlob(request),
    }
  },
} satisfies Partial<Record<BehaviourId, Break>>
