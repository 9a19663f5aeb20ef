import type { Digest } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { ensure, same, sameBytes } from '../../unmet.ts'
import type { Check } from '../probe/probe.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const hashes = (digests: readonly Digest[]): string =>
  digests
    .map(({ hash, sizeBytes }) => `${hash}/${sizeBytes}`)
    .sort()
    .join(' ')

export const findMissingChecks = {
  async 'find-missing.absent'({ api, blob }) {
    const { digest } = blob()
    same('missing:', hashes(await api.findMissing([digest])), hashes([digest]))
  },
  async 'find-missing.present'({ blob, put, isMissing }) {
    const { digest } = await put(blob())
    ensure(!(await isMissing(digest)), 'the blob not to be reported missing', 'it is reported missing')
  },
  async 'find-missing.mixed'({ api, blob, put }) {
    const there = [await put(blob()), await put(blob()), await put(blob())]
    const absent = [blob(), blob(), blob()]
    const asked = there.flatMap(({ digest }, index) => [digest, absent[index]?.digest ?? digest])
    const missing = await api.findMissing(asked)
    same('missing:', hashes(missing), hashes(absent.map(({ digest }) => digest)))
  },
  async 'find-missing.duplicates'({ api, blob }) {
    const { digest } = blob()
    same('reports:', (await api.findMissing([digest, digest, digest])).length, 1)
  },
  async 'find-missing.none'({ api }) {
    same('reports:', (await api.findMissing([])).length, 0)
  },
  async 'find-missing.many'({ api, blob, put, random, fn }) {
    const there = await put(blob())
    const absent = Array.from({ length: 9_999 }, (_, index) => {
      const hash = Buffer.from(random.bytes(fn.hexLength / 2)).toString('hex')
      return { hash, sizeBytes: index + 1 }
    })
    same('reports:', (await api.findMissing([...absent, there.digest])).length, absent.length)
  },
  async 'find-missing.truthful'({ api, blob, put, bytestream, names }) {
    const blobs = await Promise.all(Array.from({ length: 20 }, () => put(blob())))
    const missing = hashes(await api.findMissing(blobs.map(({ digest }) => digest)))
    for (const { bytes, digest } of blobs) {
      if (missing.includes(digest.hash)) continue
      sameBytes('a blob that is not reported missing', await bytestream.read(names.read(digest)), bytes)
    }
  },
  async 'find-missing.after-batch'({ api, blob }) {
    const blobs = [blob(), blob(), blob()]
    await api.batchUpdate(blobs.map(({ bytes, digest }) => ({ digest, data: bytes })))
    const missing = await api.findMissing(blobs.map(({ digest }) => digest))
    same('reports:', missing.length, 0)
  },
} satisfies Partial<Record<BehaviourId, Check>>
