import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, sameBytes } from '../../unmet.ts'
import { implemented } from '../probe/implemented.ts'
import type { Check } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

/** The committed size that the server reports; 0 when it does not know the upload. */
const committed = async (query: Promise<{ readonly committedSize: number }>): Promise<number> =>
  query.then(
    ({ committedSize }) => committedSize,
    (error: unknown) => {
      if (error instanceof GrpcError && error.code === STATUS.notFound) return 0
      throw error
    },
  )

/** Interrupted uploads. */
export const interruptedChecks = {
  async 'bytestream.write.unfinished'({ bytestream, names, blob, isMissing }) {
    const { bytes, digest } = blob()
    await bytestream.send([{ resourceName: names.write(digest), data: bytes.subarray(0, 500) }]).catch(() => {})
    ensure(await isMissing(digest), 'the blob to be reported missing', 'it is not reported missing')
  },
  async 'bytestream.write.unfinished-answer'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const sent = bytestream.send([{ resourceName: names.write(digest), data: bytes.subarray(0, 500) }])
    const size = await sent.then(
      ({ committedSize }) => committedSize,
      () => 0,
    )
    ensure(size >= 0 && size <= 500, 'an error, or a committed_size of 500 at most', `committed_size ${size}`)
  },
  async 'bytestream.write.no-message'({ bytestream }) {
    const codes = [STATUS.invalidArgument, STATUS.internal, STATUS.unknown, STATUS.cancelled] as const
    await expectRefusal('a stream without a message', codes, bytestream.send([]))
  },
  async 'bytestream.write.cancelled'({ bytestream, names, blob, isMissing, pause }) {
    const { bytes, digest } = blob(100_000)
    const upload = bytestream.open()
    await upload.write({ resourceName: names.write(digest), data: bytes.subarray(0, 50_000) })
    await pause(20)
    upload.cancel()
    ensure(await isMissing(digest), 'the blob to be reported missing', 'it is not reported missing')
    await bytestream.write(names.write(digest), bytes)
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  },
  async 'bytestream.write.resume'({ bytestream, names, blob }) {
    const { bytes, digest } = blob(10_000)
    const resourceName = names.write(digest)
    await bytestream.send([{ resourceName, data: bytes.subarray(0, 6_000) }]).catch(() => {})
    const offset = await committed(bytestream.query(resourceName))
    ensure(offset >= 0 && offset <= 6_000, 'a committed_size of 6000 at most', `${offset}`)
    await bytestream.send([{ resourceName, writeOffset: offset, data: bytes.subarray(offset), finishWrite: true }])
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  },
  async 'bytestream.write.over-limit'({ bytestream, names, random, fn, offer, soon }) {
    const sizeBytes = offer.cache.maxCasBlobSizeBytes + 1
    const upload = bytestream.open()
    const digest = { hash: fn.hash(random.bytes(10)), sizeBytes }
    await upload.write({ resourceName: names.write(digest), data: random.bytes(1024) })
    const ending = await soon(upload.answer.catch((error: unknown) => error))
    upload.cancel()
    ensure(ending !== undefined, 'an error after the first message', 'no answer while the stream was open')
    const call = ending instanceof Error ? Promise.reject(ending) : Promise.resolve()
    await expectRefusal('the write', STATUS.invalidArgument, call)
  },
  async 'bytestream.query.implemented'({ bytestream, names, blob }) {
    await implemented(bytestream.query(names.write(blob().digest)))
  },
  async 'bytestream.query.after-write'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const resourceName = names.write(digest)
    await bytestream.write(resourceName, bytes)
    const { complete } = await bytestream.query(resourceName)
    ensure(complete, 'complete', 'incomplete')
  },
  async 'bytestream.query.committed-size'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const resourceName = names.write(digest)
    await bytestream.write(resourceName, bytes)
    const { committedSize } = await bytestream.query(resourceName)
    ensure(committedSize === bytes.length, `committed_size ${bytes.length}`, `${committedSize}`)
  },
  async 'bytestream.query.existing'({ bytestream, names, blob, put }) {
    const { digest } = await put(blob())
    const { complete } = await bytestream.query(names.write(digest))
    ensure(complete, 'complete', 'incomplete')
  },
  async 'bytestream.query.unknown'({ bytestream, names, blob }) {
    const { committedSize, complete } = await bytestream.query(names.write(blob().digest))
    const seen = `${committedSize} bytes and ${complete ? 'complete' : 'incomplete'}`
    ensure(committedSize === 0 && !complete, '0 bytes and incomplete', seen)
  },
  async 'bytestream.query.partial'({ bytestream, names, blob }) {
    const { bytes, digest } = blob()
    const resourceName = names.write(digest)
    await bytestream.send([{ resourceName, data: bytes.subarray(0, 500) }]).catch(() => {})
    const unknown = { complete: false, committedSize: 0 }
    const { complete, committedSize } = await bytestream.query(resourceName).catch((error: unknown) => {
      if (error instanceof GrpcError && error.code === STATUS.notFound) return unknown
      throw error
    })
    ensure(!complete && committedSize <= 500, 'incomplete with 500 bytes at most', `${committedSize}, ${complete}`)
  },
} satisfies Partial<Record<BehaviourId, Check>>
