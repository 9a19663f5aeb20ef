import { STATUS } from '../../../grpc/status.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { after, type Break, fail, when, whenOpened } from './break.ts'

const isEmpty = (digest: { readonly sizeBytes: number } | undefined): boolean => digest?.sizeBytes === 0
const isEmptyName = (name: string): boolean => name.endsWith('/0')
const isPacked = (name: string): boolean => name.includes('compressed-blobs/')
const status = (code: number) => ({ code, message: 'broken on purpose', details: [] })

const reports = (hexLength: number): Break =>
  after('findMissingBlobs', ({ missingBlobDigests }, { blobDigests }) => ({
    missingBlobDigests: [
      ...missingBlobDigests,
      ...blobDigests.filter((digest) => isEmpty(digest) && digest.hash.length === hexLength),
    ],
  }))

export const emptyBreaks = {
  'empty.find-missing': reports(64),
  'empty.find-missing-every-function': reports(96),
  'empty.batch-update': after('batchUpdateBlobs', ({ responses }) => ({
    responses: responses.map((each) =>
      isEmpty(each.digest) ? { ...each, status: status(STATUS.invalidArgument) } : each,
    ),
  })),
  'empty.batch-read': after('batchReadBlobs', ({ responses }) => ({
    responses: responses.map((each) => (isEmpty(each.digest) ? { ...each, status: status(STATUS.notFound) } : each)),
  })),
  'empty.read': when('read', ({ resourceName: name }) => isEmptyName(name) && !isPacked(name), fail(STATUS.notFound)),
  'empty.read-compressed': when(
    'read',
    ({ resourceName: name }) => isEmptyName(name) && isPacked(name),
    fail(STATUS.notFound),
  ),
  'empty.write': whenOpened(({ resourceName }) => isEmptyName(resourceName), fail(STATUS.invalidArgument)),
  'empty.query': when(
    'queryWriteStatus',
    ({ resourceName }) => isEmptyName(resourceName),
    () => ({ committedSize: 0, complete: false }),
  ),
  'empty.get-tree': when('getTree', ({ rootDigest }) => isEmpty(rootDigest), fail(STATUS.notFound)),
  'empty.action-cache': after('getActionResult', (result) =>
    result.outputFiles.some(({ digest }) => isEmpty(digest)) ? fail(STATUS.notFound)() : result,
  ),
  'empty.splice': when('spliceBlob', ({ chunkDigests }) => chunkDigests.some(isEmpty), fail(STATUS.notFound)),
} satisfies Partial<Record<BehaviourId, Break>>
