import { STATUS } from '../../../grpc/status.ts'
import type { WriteResponse } from '../../../wire/gen/google/bytestream/bytestream.ts'
import { ensure, expectRefusal, same, sameBytes } from '../../unmet.ts'
import type { Blob } from '../probe/blob.ts'
import type { Check, Probe } from '../probe/probe.ts'
import { pieces } from '../probe/streams.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const MiB = 1024 * 1024
const INVALID = STATUS.invalidArgument

/** Expects exactly these bytes under the digest. */
async function stored({ bytestream, names }: Probe, { bytes, digest }: Blob): Promise<void> {
  sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
}

/** A wrong offset or name is an error; the ByteStream definition does not specify the code. */
const ERRORS = [
  STATUS.invalidArgument,
  STATUS.failedPrecondition,
  STATUS.outOfRange,
  STATUS.aborted,
  STATUS.unknown,
  STATUS.unimplemented,
] as const

export const writeChecks = {
  async 'bytestream.write.one-message'(probe) {
    const blob = probe.blob()
    await probe.bytestream.write(probe.names.write(blob.digest), blob.bytes)
    await stored(probe, blob)
  },
  async 'bytestream.write.several-messages'(probe) {
    const blob = probe.blob(10_000)
    await probe.bytestream.write(probe.names.write(blob.digest), blob.bytes, { pieceBytes: 999 })
    await stored(probe, blob)
  },
  async 'bytestream.write.large'(probe) {
    const blob = probe.blob(6 * MiB + 77)
    await probe.bytestream.write(probe.names.write(blob.digest), blob.bytes)
    await stored(probe, blob)
  },
  async 'bytestream.write.committed-size'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    same('committed_size', await bytestream.write(names.write(digest), bytes, { pieceBytes: 300 }), bytes.length)
  },
  async 'bytestream.write.name-once'(probe) {
    const blob = probe.blob()
    const messages = pieces(probe.names.write(blob.digest), blob.bytes, 400)
    await probe.bytestream.send(messages.map((each, index) => (index === 0 ? each : { ...each, resourceName: '' })))
    await stored(probe, blob)
  },
  async 'bytestream.write.name-repeated'(probe) {
    const blob = probe.blob()
    const resourceName = probe.names.write(blob.digest)
    await probe.bytestream.send(pieces(resourceName, blob.bytes, 400).map((each) => ({ ...each, resourceName })))
    await stored(probe, blob)
  },
  async 'bytestream.write.name-changed'({ bytestream, names, blob }) {
    const [one, other] = [blob(), blob()]
    const messages = pieces(names.write(one.digest), one.bytes, 500)
    const call = bytestream.send(messages.map((each, index) => rename(each, index, names.write(other.digest))))
    await expectRefusal('the write', ERRORS, call)
  },
  async 'bytestream.write.empty-message'(probe) {
    const blob = probe.blob()
    const [first, second] = pieces(probe.names.write(blob.digest), blob.bytes, 500)
    await probe.bytestream.send([first ?? {}, { writeOffset: 500 }, second ?? {}])
    await stored(probe, blob)
  },
  async 'bytestream.write.finish-alone'(probe) {
    const blob = probe.blob()
    const resourceName = probe.names.write(blob.digest)
    await probe.bytestream.send([
      { resourceName, data: blob.bytes },
      { writeOffset: blob.bytes.length, finishWrite: true },
    ])
    await stored(probe, blob)
  },
  async 'bytestream.write.offset-mismatch'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const [first, second] = pieces(names.write(digest), bytes, 500)
    const call = bytestream.send([first ?? {}, { ...second, writeOffset: 600 }])
    await expectRefusal('a second message at 600 instead of 500', ERRORS, call)
  },
  async 'bytestream.write.offset-first'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const call = bytestream.send([
      { resourceName: names.write(digest), writeOffset: 100, data: bytes.subarray(100), finishWrite: true },
    ])
    await expectRefusal('a first message at 100', ERRORS, call)
  },
  async 'bytestream.write.existing-answers-at-once'(probe) {
    const blob = await probe.put(probe.blob(MiB))
    const answer = await halfOfExisting(probe, blob)
    ensure(answer !== undefined, 'an answer after the first kilobyte', 'none while the stream was open')
  },
  async 'bytestream.write.existing-committed-size'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob(MiB))
    const size = await bytestream.write(names.write(digest), bytes, { pieceBytes: 100_000 })
    same('committed_size', size, bytes.length)
  },
  async 'bytestream.write.existing-late-data'({ bytestream, names, blob, put, pause }) {
    const { bytes, digest } = await put(blob(MiB))
    const upload = bytestream.open()
    for (const message of pieces(names.write(digest), bytes, 64 * 1024)) {
      await upload.write(message)
      await pause(5)
    }
    upload.finish()
    same('committed_size', (await upload.answer).committedSize, bytes.length)
  },
  async 'bytestream.write.overtaken'({ bytestream, names, blob, put }) {
    const { bytes, digest } = blob(10_000)
    const [first, second] = pieces(names.write(digest), bytes, 5_000)
    const upload = bytestream.open()
    await upload.write(first ?? {})
    await put({ bytes, digest })
    await upload.write(second ?? {})
    upload.finish()
    same('committed_size', (await upload.answer).committedSize, bytes.length)
  },
  async 'bytestream.write.concurrent'(probe) {
    const blob = probe.blob(MiB)
    const uploads = Array.from({ length: 8 }, () =>
      probe.bytestream.write(probe.names.write(blob.digest), blob.bytes, { pieceBytes: 50_000 }),
    )
    for (const size of await Promise.all(uploads)) same('committed_size', size, blob.bytes.length)
    await stored(probe, blob)
  },
  async 'bytestream.write.hash-mismatch'({ bytestream, names, blob }) {
    const [named, sent] = [blob(), blob()]
    await expectRefusal('the write', INVALID, bytestream.write(names.write(named.digest), sent.bytes))
  },
  async 'bytestream.write.hash-mismatch-not-stored'({ bytestream, names, blob, isMissing }) {
    const [named, sent] = [blob(), blob()]
    await bytestream.write(names.write(named.digest), sent.bytes).catch(() => {})
    ensure(await isMissing(named.digest), 'the blob to be reported missing', 'it is not reported missing')
  },
  async 'bytestream.write.too-short'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    await expectRefusal('the write', INVALID, bytestream.write(names.write(digest), bytes.subarray(0, 600)))
  },
  async 'bytestream.write.too-long'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const longer = Buffer.concat([bytes, new Uint8Array(400)])
    await expectRefusal('the write', INVALID, bytestream.write(names.write(digest), longer, { pieceBytes: 500 }))
  },
} satisfies Partial<Record<BehaviourId, Check>>

const rename = <M extends object>(message: M, index: number, resourceName: string) =>
  index === 0 ? message : { ...message, resourceName }

/** Sends only the first kilobyte and keeps the stream open. */
export async function halfOfExisting(
  { bytestream, names, soon }: Probe,
  { bytes, digest }: Blob,
  compressor?: string,
): Promise<WriteResponse | undefined> {
  const upload = bytestream.open()
  const resourceName = names.write(digest, compressor === undefined ? {} : { compressor })
  await upload.write({ resourceName, data: bytes.subarray(0, 1024) })
  const answer = await soon(upload.answer)
  upload.cancel()
  return answer
}
