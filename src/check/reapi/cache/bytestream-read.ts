import { STATUS } from '../../../grpc/status.ts'
import { ensure, expectRefusal, same, sameBytes } from '../../unmet.ts'
import type { Check } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const MiB = 1024 * 1024
const LARGE = 5 * MiB + 123
const REFUSALS = [STATUS.outOfRange, STATUS.invalidArgument] as const

export const readChecks = {
  async 'bytestream.read.whole'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  },
  async 'bytestream.read.large'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob(LARGE))
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  },
  async 'bytestream.read.message-size'({ bytestream, names, blob, put }) {
    const { digest } = await put(blob(LARGE))
    let largest = 0
    for await (const data of bytestream.messages(names.read(digest))) largest = Math.max(largest, data.length)
    ensure(largest < 4 * MiB, `messages below ${4 * MiB} bytes`, `one with ${largest} bytes of data`)
  },
  async 'bytestream.read.absent'({ bytestream, names, blob }) {
    await expectRefusal('the read', STATUS.notFound, bytestream.read(names.read(blob().digest)))
  },
  async 'bytestream.read.offset'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    sameBytes('from offset 300', await bytestream.read(names.read(digest), { offset: 300 }), bytes.subarray(300))
  },
  async 'bytestream.read.offset-at-end'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    same('bytes:', (await bytestream.read(names.read(digest), { offset: bytes.length })).length, 0)
  },
  async 'bytestream.read.offset-past-end'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    const call = bytestream.read(names.read(digest), { offset: bytes.length + 1 })
    await expectRefusal('the read', STATUS.outOfRange, call)
  },
  async 'bytestream.read.offset-negative'({ bytestream, names, blob, put }) {
    const { digest } = await put(blob())
    await expectRefusal('the read', REFUSALS, bytestream.read(names.read(digest), { offset: -1 }))
  },
  async 'bytestream.read.limit'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    sameBytes('400 bytes', await bytestream.read(names.read(digest), { limit: 400 }), bytes.subarray(0, 400))
  },
  async 'bytestream.read.limit-past-end'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    sameBytes('the blob', await bytestream.read(names.read(digest), { limit: 2 * bytes.length }), bytes)
  },
  async 'bytestream.read.limit-negative'({ bytestream, names, blob, put }) {
    const { digest } = await put(blob())
    await expectRefusal('the read', REFUSALS, bytestream.read(names.read(digest), { limit: -1 }))
  },
  async 'bytestream.read.offset-and-limit'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob())
    const middle = await bytestream.read(names.read(digest), { offset: 200, limit: 500 })
    sameBytes('500 bytes from offset 200', middle, bytes.subarray(200, 700))
  },
  async 'bytestream.read.concurrent'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob(MiB / 2))
    const reads = Array.from({ length: 16 }, () => bytestream.read(names.read(digest)))
    for (const read of await Promise.all(reads)) sameBytes('the blob', read, bytes)
  },
  async 'bytestream.read.slow-reader'({ bytestream, names, blob, put, pause }) {
    const { bytes, digest } = await put(blob(LARGE))
    const parts: Uint8Array[] = []
    for await (const data of bytestream.messages(names.read(digest))) {
      if (parts.length === 0) await pause(300)
      parts.push(data)
    }
    sameBytes('the blob', Buffer.concat(parts), bytes)
  },
  async 'bytestream.read.cancelled'({ bytestream, names, blob, put }) {
    const { bytes, digest } = await put(blob(LARGE))
    for await (const data of bytestream.messages(names.read(digest))) if (data.length > 0) break
    sameBytes('the blob', await bytestream.read(names.read(digest)), bytes)
  },
} satisfies Partial<Record<BehaviourId, Check>>
