import { STATUS } from '../../../grpc/status.ts'
import type {
  BatchUpdateBlobsRequest,
  Digest,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { DIGEST_FNS } from '../probe/digest-functions.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { after, type Break, fail, misread, misreadMessages, when, whenOpened, whenReceived } from './break.ts'
import { downloadOf, uploadOf } from './resource-name.ts'
import { storeKey } from './store.ts'

const OK = { code: 0, message: '', details: [] }
const INVALID = STATUS.invalidArgument

const lower = (digest: Digest): Digest => ({ ...digest, hash: digest.hash.toLowerCase() })
const isOdd = (digest: Digest | undefined): boolean => (digest?.hash.length ?? 0) % 2 === 1
const hasOddHash = (name: string): boolean =>
  /\/[0-9a-f]+\/\d+$/.test(name) && (name.split('/').at(-2)?.length ?? 0) % 2 === 1
const allMissing = ({ blobDigests }: { readonly blobDigests: readonly Digest[] }) => ({
  missingBlobDigests: blobDigests,
})
const allOk = ({ requests }: BatchUpdateBlobsRequest) => ({
  responses: requests.map(({ digest }) => ({ digest, status: OK })),
})

/** Returns wrong bytes for blobs of one digest function. */
const spoils = (name: string): Break =>
  after('batchReadBlobs', ({ responses }, { digestFunction }) => ({
    responses: responses.map((each) =>
      each.status?.code === 0 && storeKey(each.digest, digestFunction).fn.name === name
        ? { ...each, data: each.data.toReversed() }
        : each,
    ),
  }))

export const digestBreaks = {
  'digests.bytes-as-sent': after('read', (pieces) =>
    // Drops the unknown field at the front, as decoding and encoding would.
    pieces[0]?.[0] === 0xc2 && pieces[0][1] === 0x3e ? [pieces[0].subarray(6)] : pieces,
  ),
  'digests.inferred': when('findMissingBlobs', ({ digestFunction }) => digestFunction === 0, fail(INVALID)),
  'digests.explicit': when('findMissingBlobs', ({ digestFunction }) => digestFunction === 1, fail(INVALID)),
  'digests.wrong-length': when(
    'findMissingBlobs',
    ({ blobDigests, digestFunction }) => digestFunction === 1 && blobDigests.some(({ hash }) => hash.length === 62),
    allMissing,
  ),
  'digests.undefined-function': when('findMissingBlobs', ({ digestFunction }) => digestFunction > 10, allMissing),
  'digests.one-function': when(
    'findMissingBlobs',
    ({ blobDigests }) => new Set(blobDigests.map(({ hash }) => hash.length)).size > 1,
    allMissing,
  ),
  'digests.namespaces': after('findMissingBlobs', ({ missingBlobDigests }, _, { store }) => ({
    missingBlobDigests: missingBlobDigests.filter(
      (digest) =>
        !DIGEST_FNS.some(
          ({ number, hexLength }) => hexLength === digest.hash.length && store.has(storeKey(digest, number)),
        ),
    ),
  })),
  'digests.sha256': spoils('SHA256'),
  'digests.sha1': spoils('SHA1'),
  'digests.md5': spoils('MD5'),
  'digests.sha384': spoils('SHA384'),
  'digests.sha512': spoils('SHA512'),
  'digests.sha256tree': spoils('SHA256TREE'),
  'digests.blake3': spoils('BLAKE3'),
  'digests.gitsha1': spoils('GITSHA1'),
  'digests.size.find-missing': after('findMissingBlobs', (answer, { digestFunction }, { store }) => ({
    missingBlobDigests: answer.missingBlobDigests.filter(
      (digest) => store.sameHash(storeKey(digest, digestFunction)) === undefined,
    ),
  })),
  'digests.size.batch-update': when(
    'batchUpdateBlobs',
    ({ requests }) => requests.some(({ digest, data }) => digest?.sizeBytes === data.length + 1),
    allOk,
  ),
  'digests.size.batch-read': after('batchReadBlobs', ({ responses }, { digestFunction }, { store }) => ({
    responses: responses.map((each) => {
      const bytes =
        each.status?.code === STATUS.notFound ? store.sameHash(storeKey(each.digest, digestFunction)) : undefined
      return bytes === undefined ? each : { ...each, data: bytes, status: OK }
    }),
  })),
  'digests.size.read': when(
    'read',
    ({ resourceName }, { store }) => wrongSize(resourceName, store) !== undefined,
    ({ resourceName }, { store }) => [wrongSize(resourceName, store) ?? new Uint8Array()],
  ),
  'digests.size.write': whenReceived(
    ({ key, bytes }) => key.fn.hash(bytes) === key.digest.hash && bytes.length !== key.digest.sizeBytes,
    ({ bytes }) => ({ committedSize: bytes.length }),
  ),
  'digests.size.query': when(
    'queryWriteStatus',
    ({ resourceName }, { store }) => store.sameHash(uploadOf(resourceName).key) !== undefined,
    () => ({ committedSize: 1, complete: true }),
  ),
  'digests.size.get-tree': misread('getTree', (request, { store }) => {
    const { hash, sizeBytes } = request.rootDigest as Digest
    const bytes = store.sameHash(storeKey({ hash, sizeBytes }, request.digestFunction))
    return bytes === undefined ? request : { ...request, rootDigest: { hash, sizeBytes: bytes.length } }
  }),
  'digests.size.action-cache': misread('getActionResult', (request, { store }) => {
    if (request.actionDigest === undefined || isOdd(request.actionDigest)) return request
    const { hash, sizeBytes } = request.actionDigest
    const bytes = store.sameHash(storeKey({ hash, sizeBytes }, request.digestFunction))
    return bytes === undefined ? request : { ...request, actionDigest: { hash, sizeBytes: bytes.length } }
  }),
  'digests.size.splice': misread('spliceBlob', (request) => {
    const sizeBytes = request.chunkDigests.reduce((sum, digest) => sum + digest.sizeBytes, 0)
    return request.blobDigest === undefined ? request : { ...request, blobDigest: { ...request.blobDigest, sizeBytes } }
  }),
  'digests.uppercase.find-missing': misread('findMissingBlobs', (request) => ({
    ...request,
    blobDigests: request.blobDigests.map(lower),
  })),
  'digests.uppercase.batch-update': misread('batchUpdateBlobs', (request) => ({
    ...request,
    requests: request.requests.map((each) => ({ ...each, digest: lower(each.digest as Digest) })),
  })),
  'digests.uppercase.read': misread('read', (request) => ({
    ...request,
    resourceName: request.resourceName.toLowerCase(),
  })),
  'digests.uppercase.write': misreadMessages((message) => ({
    ...message,
    resourceName: message.resourceName.toLowerCase(),
  })),
  'digests.odd-length.find-missing': when('findMissingBlobs', ({ blobDigests }) => blobDigests.some(isOdd), allMissing),
  'digests.odd-length.batch-update': when(
    'batchUpdateBlobs',
    ({ requests }) => requests.some(({ digest }) => isOdd(digest)),
    allOk,
  ),
  'digests.odd-length.batch-read': after('batchReadBlobs', ({ responses }) => ({
    responses: responses.map((each) =>
      isOdd(each.digest) ? { ...each, status: { ...OK, code: STATUS.notFound } } : each,
    ),
  })),
  'digests.odd-length.read': when('read', ({ resourceName }) => hasOddHash(resourceName), fail(STATUS.notFound)),
  'digests.odd-length.write': whenOpened(
    ({ resourceName }) => hasOddHash(resourceName),
    ({ data }) => ({ committedSize: data.length }),
  ),
  'digests.odd-length.action-cache': when(
    'getActionResult',
    ({ actionDigest }) => isOdd(actionDigest),
    fail(STATUS.notFound),
  ),
  'digests.not-hex': when(
    'findMissingBlobs',
    ({ blobDigests }) => blobDigests.some(({ hash }) => /[g-z]/.test(hash)),
    allMissing,
  ),
  'digests.negative-size': when(
    'findMissingBlobs',
    ({ blobDigests }) => blobDigests.some(({ sizeBytes }) => sizeBytes < 0),
    allMissing,
  ),
  'digests.unset': when('getActionResult', ({ actionDigest }) => actionDigest === undefined, fail(STATUS.notFound)),
} satisfies Partial<Record<BehaviourId, Break>>

function wrongSize(
  name: string,
  store: {
    has: (key: ReturnType<typeof storeKey>) => boolean
    sameHash: (key: ReturnType<typeof storeKey>) => Uint8Array | undefined
  },
) {
  if (!/\/blobs\/[0-9a-f]{64}\/\d+$/.test(name)) return undefined
  const { key } = downloadOf(name)
  return store.has(key) ? undefined : store.sameHash(key)
}
