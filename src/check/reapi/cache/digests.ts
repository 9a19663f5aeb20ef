import { STATUS } from '../../../grpc/status.ts'
import type { DigestFunction_Value } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, expectRefusal, NotOffered, sameBytes, sameStatus } from '../../unmet.ts'
import { encodedDirectory } from '../probe/actions.ts'
import { DIGEST_FNS, digestWith, fieldOf } from '../probe/digest-functions.ts'
import type { Check } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

/** Writes and reads a blob by batch and by stream, as a client with this digest function does. */
const roundTrip =
  (name: string): Check =>
  async ({ api, bytestream, names, random }) => {
    const fn = DIGEST_FNS.find((each) => each.name === name)
    if (fn === undefined) throw new NotOffered(`this suite does not implement ${name}`)
    const digestFunction = fieldOf(fn)
    const [inBatch, inStream] = [random.bytes(3_000), random.bytes(3_000)]
    const [digest, streamed] = [digestWith(fn, inBatch), digestWith(fn, inStream)]
    const [stored] = await api.batchUpdate([{ digest, data: inBatch }], { digestFunction })
    sameStatus(`a ${name} blob in a batch`, stored?.status?.code, STATUS.ok)
    await bytestream.write(names.write(streamed, { fn }), inStream)
    const missing = await api.findMissing([digest, streamed], { digestFunction })
    ensure(missing.length === 0, 'neither blob to be reported missing', `${missing.length} of them reported missing`)
    const [read] = await api.batchRead([streamed], { digestFunction })
    sameBytes('the streamed blob, read in a batch', read?.data ?? new Uint8Array(), inStream)
    sameBytes('the batched blob, read as a stream', await bytestream.read(names.read(digest, { fn })), inBatch)
  }

export const digestChecks = {
  async 'digests.bytes-as-sent'({ bytestream, names, api, blobOf, put, random }) {
    // Fields in the wrong order, one of them unknown: decoding and encoding would change these bytes.
    const unknown = Buffer.from([0xc2, 0x3e, 3, 0x6e, 0x65, 0x77])
    const file = encodedDirectory({ files: [{ name: random.word(), digest: { hash: 'a'.repeat(64), sizeBytes: 1 } }] })
    const { bytes, digest } = await put(
      blobOf(Buffer.concat([unknown, encodedDirectory({ symlinks: [{ name: 'link', target: 'x' }] }), file])),
    )
    sameBytes('the message as a stream', await bytestream.read(names.read(digest)), bytes)
    const [answer] = await api.batchRead([digest])
    sameBytes('the message in a batch', answer?.data ?? new Uint8Array(), bytes)
  },
  async 'digests.inferred'({ api, blob, put, fn }) {
    if (fn.segment !== '') throw new NotOffered(`the length of its hashes does not identify ${fn.name}`)
    const [there, absent] = [await put(blob()), blob()]
    const missing = await api.findMissing([there.digest, absent.digest], { digestFunction: 0 })
    ensure(missing.length === 1 && missing[0]?.hash === absent.digest.hash, 'one of two', `${missing.length} missing`)
  },
  async 'digests.explicit'({ api, blob, put, fn }) {
    const [there, absent] = [await put(blob()), blob()]
    const missing = await api.findMissing([there.digest, absent.digest], { digestFunction: fn.number })
    ensure(missing.length === 1 && missing[0]?.hash === absent.digest.hash, 'one of two', `${missing.length} missing`)
  },
  async 'digests.wrong-length'({ api, blob, fn }) {
    const { hash, sizeBytes } = blob().digest
    const short = { hash: hash.slice(0, -2), sizeBytes }
    const call = api.findMissing([short], { digestFunction: fn.number })
    await expectRefusal(`${short.hash.length} digits as ${fn.name}`, STATUS.invalidArgument, call)
  },
  async 'digests.undefined-function'({ api, blob }) {
    const call = api.findMissing([blob().digest], { digestFunction: 99 as DigestFunction_Value })
    await expectRefusal('digest function 99', STATUS.invalidArgument, call)
  },
  async 'digests.one-function'({ api, blob, fn, random }) {
    const other = DIGEST_FNS.find(({ segment, hexLength }) => segment === '' && hexLength !== fn.hexLength) ?? fn
    const digests = [blob().digest, digestWith(other, random.bytes(100))]
    await expectRefusal(`${fn.name} and ${other.name} together`, STATUS.invalidArgument, api.findMissing(digests))
  },
  async 'digests.namespaces'({ api, offer, random }) {
    const [one, other] = sameLength(offer.functions)
    const data = random.bytes(3_000)
    const digest = digestWith(one, data)
    await api.batchUpdate([{ digest, data }], { digestFunction: one.number })
    const missing = await api.findMissing([digest], { digestFunction: other.number })
    ensure(missing.length === 1, `a ${one.name} blob to be missing with ${other.name}`, 'it is there')
  },
  'digests.sha256': roundTrip('SHA256'),
  'digests.sha1': roundTrip('SHA1'),
  'digests.md5': roundTrip('MD5'),
  'digests.sha384': roundTrip('SHA384'),
  'digests.sha512': roundTrip('SHA512'),
  'digests.sha256tree': roundTrip('SHA256TREE'),
  'digests.blake3': roundTrip('BLAKE3'),
  'digests.gitsha1': roundTrip('GITSHA1'),
} satisfies Partial<Record<BehaviourId, Check>>

function sameLength<F extends { readonly hexLength: number }>(functions: readonly F[]): readonly [F, F] {
  for (const one of functions) {
    const other = functions.find((each) => each !== one && each.hexLength === one.hexLength)
    if (other !== undefined) return [one, other]
  }
  throw new NotOffered('needs two digest functions with hashes of one length')
}
