import { STATUS, type StatusCode } from '../../../grpc/status.ts'
import type { Digest } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, expectRefusal, sameStatus } from '../../unmet.ts'
import { encodedDirectory, storedResult } from '../probe/actions.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const INVALID = STATUS.invalidArgument
const GONE_OR_INVALID = [STATUS.notFound, STATUS.invalidArgument] as const

const resized = ({ hash, sizeBytes }: Digest): Digest => ({ hash, sizeBytes: sizeBytes + 1 })
const capital = ({ hash, sizeBytes }: Digest): Digest => ({ hash: hash.toUpperCase(), sizeBytes })
/** One digit short: no digest function has an odd number of them. */
const odd = ({ hash, sizeBytes }: Digest): Digest => ({ hash: hash.slice(1), sizeBytes })

/** The server may reject one blob or the whole batch. */
async function refusedInBatch(what: string, codes: readonly StatusCode[], batch: Promise<readonly Item[]>) {
  const settled = await batch.then(
    (answers) => answers,
    (error: unknown) => expectRefusal(what, codes, Promise.reject(error)),
  )
  if (settled !== undefined) for (const { status } of settled) sameStatus(what, status?.code, codes)
}

type Item = { readonly status: { readonly code: number } | undefined }

/** Content whose hash contains a letter, so that upper case differs. */
function lettered({ blob }: Probe) {
  for (;;) {
    const candidate = blob()
    if (/[a-f]/.test(candidate.digest.hash)) return candidate
  }
}

export const digestMistakeChecks = {
  async 'digests.size.find-missing'({ api, blob, put }) {
    const wrong = resized((await put(blob())).digest)
    const missing = await api.findMissing([wrong]).catch(async (error: unknown) => {
      await expectRefusal('a wrong size', INVALID, Promise.reject(error))
      return [wrong]
    })
    ensure(missing.length === 1, 'the digest to be reported missing', 'it is not reported missing')
  },
  async 'digests.size.batch-update'({ api, blob }) {
    const { bytes, digest } = blob()
    await refusedInBatch('a wrong size', [INVALID], api.batchUpdate([{ digest: resized(digest), data: bytes }]))
  },
  async 'digests.size.batch-read'({ api, blob, put }) {
    const { digest } = await put(blob())
    await refusedInBatch('a wrong size', GONE_OR_INVALID, api.batchRead([resized(digest)]))
  },
  async 'digests.size.read'({ bytestream, names, blob, put }) {
    const { digest } = await put(blob())
    await expectRefusal('a read with a wrong size', GONE_OR_INVALID, bytestream.read(names.read(resized(digest))))
  },
  async 'digests.size.write'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    await expectRefusal('a write with a wrong size', INVALID, bytestream.write(names.write(resized(digest)), bytes))
  },
  async 'digests.size.query'({ bytestream, names, blob, put }) {
    const { digest } = await put(blob())
    const query = bytestream.query(names.write(resized(digest)))
    const { complete } = await query.catch(async (error: unknown) => {
      await expectRefusal('a wrong size', GONE_OR_INVALID, Promise.reject(error))
      return { complete: false }
    })
    ensure(!complete, 'incomplete', 'complete')
  },
  async 'digests.size.get-tree'({ api, blobOf, put, random }) {
    const { digest } = await put(blobOf(encodedDirectory({ symlinks: [{ name: random.word(), target: 'x' }] })))
    await expectRefusal('a tree with a wrong size', GONE_OR_INVALID, api.getTree(resized(digest)))
  },
  async 'digests.size.action-cache'(probe) {
    const { actionDigest } = await storedResult(probe, {})
    await expectRefusal('an action with a wrong size', GONE_OR_INVALID, probe.api.getResult(resized(actionDigest)))
  },
  async 'digests.size.splice'({ api, blob, blobOf, put }) {
    const [one, two] = [await put(blob()), await put(blob())]
    const whole = blobOf(Buffer.concat([one.bytes, two.bytes])).digest
    const call = api.splice({ blobDigest: resized(whole), chunkDigests: [one.digest, two.digest] })
    await expectRefusal('a splice with a wrong size', INVALID, call)
  },
  async 'digests.uppercase.find-missing'(probe) {
    await expectRefusal('an upper-case hash', INVALID, probe.api.findMissing([capital(lettered(probe).digest)]))
  },
  async 'digests.uppercase.batch-update'(probe) {
    const { bytes, digest } = lettered(probe)
    await refusedInBatch(
      'an upper-case hash',
      [INVALID],
      probe.api.batchUpdate([{ digest: capital(digest), data: bytes }]),
    )
  },
  async 'digests.uppercase.read'(probe) {
    const { digest } = await probe.put(lettered(probe))
    await expectRefusal('an upper-case hash', INVALID, probe.bytestream.read(probe.names.read(capital(digest))))
  },
  async 'digests.uppercase.write'(probe) {
    const { bytes, digest } = lettered(probe)
    await expectRefusal(
      'an upper-case hash',
      INVALID,
      probe.bytestream.write(probe.names.write(capital(digest)), bytes),
    )
  },
  async 'digests.odd-length.find-missing'({ api, blob }) {
    await expectRefusal('a hash of odd length', INVALID, api.findMissing([odd(blob().digest)]))
  },
  async 'digests.odd-length.batch-update'({ api, blob }) {
    const { bytes, digest } = blob()
    await refusedInBatch('a hash of odd length', [INVALID], api.batchUpdate([{ digest: odd(digest), data: bytes }]))
  },
  async 'digests.odd-length.batch-read'({ api, blob }) {
    await refusedInBatch('a hash of odd length', [INVALID], api.batchRead([odd(blob().digest)]))
  },
  async 'digests.odd-length.read'({ bytestream, names, blob }) {
    await expectRefusal('a hash of odd length', INVALID, bytestream.read(names.read(odd(blob().digest))))
  },
  async 'digests.odd-length.write'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    await expectRefusal('a hash of odd length', INVALID, bytestream.write(names.write(odd(digest)), bytes))
  },
  async 'digests.odd-length.action-cache'({ api, blob }) {
    await expectRefusal('a hash of odd length', INVALID, api.getResult(odd(blob().digest)))
  },
  async 'digests.not-hex'({ api, blob }) {
    const { hash, sizeBytes } = blob().digest
    await expectRefusal('a hash that contains z', INVALID, api.findMissing([{ hash: `z${hash.slice(1)}`, sizeBytes }]))
  },
  async 'digests.negative-size'({ api, blob }) {
    const { hash } = blob().digest
    await expectRefusal('a size of -1', INVALID, api.findMissing([{ hash, sizeBytes: -1 }]))
  },
  async 'digests.unset'({ api }) {
    await expectRefusal('an action digest that is not set', INVALID, api.getResult(undefined))
  },
} satisfies Partial<Record<BehaviourId, Check>>
