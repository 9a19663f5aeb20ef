/** The unary calls, and the expected contents of their answers. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { absentDigest, actionDigest, type Blob, makeBlob, randomNumbers, wholeOf } from '../content.ts'
import { all, bytesIn, fieldsOf, numberIn, readContents, readDigest, readDigests } from '../fields.ts'
import {
  actionResult,
  batchUpdateRequest,
  type Digest,
  digestList,
  getActionResultRequest,
  updateActionResultRequest,
} from '../messages.ts'
import { BATCH_BLOBS, OUTPUTS_PER_ACTION, SMALL_BYTES, type Stock } from '../plan.ts'
import { type Call, sole, unary } from './call.ts'

const SERVICE = '/build.bazel.remote.execution.v2'
const CAS = `${SERVICE}.ContentAddressableStorage`
const ACTION_CACHE = `${SERVICE}.ActionCache`

const small = new Map<number, Blob>()

export function smallBlob(index: number): Blob {
  const known = small.get(index)
  if (known !== undefined) return known
  const blob = makeBlob({ set: 'small', index }, SMALL_BYTES)
  small.set(index, blob)
  return blob
}

const keysOf = (digests: readonly Digest[]): string[] => digests.map(({ hash, size }) => `${hash}/${size}`).sort()

/** Half of the digests exist. With a single digest, it exists in every other call. */
export function findMissing(count: number, stock: Stock, call: number): Call {
  const random = randomNumbers(count * 7919 + call)
  const chosen = Math.floor(random() * stock.small)
  const digests: Digest[] = []
  const absent: Digest[] = []
  for (let i = 0; i < count; i++) {
    if ((i + call) % 2 === 0) {
      // Consecutive blobs from a random one on: a client asks for each digest only once.
      digests.push(smallBlob((chosen + i) % stock.small).digest)
    } else {
      const digest = absentDigest({ set: `${count} ${call}`, index: i }, SMALL_BYTES)
      digests.push(digest)
      absent.push(digest)
    }
  }
  for (let i = digests.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[digests[i], digests[j]] = [digests[j] as Digest, digests[i] as Digest]
  }
  const expected = keysOf(absent)
  return unary(`${CAS}/FindMissingBlobs`, digestList(digests), {
    contentBytes: 0,
    shape: `${absent.length}`,
    verify: (body) => assert.deepEqual(keysOf(readDigests(sole(body))), expected, 'FindMissing names others'),
  })
}

export function batchUpdate(blobs: readonly Blob[]): Call {
  const digests = blobs.map(({ digest }) => digest)
  const request = batchUpdateRequest(blobs.map((blob) => ({ digest: blob.digest, data: wholeOf(blob) })))
  return unary(`${CAS}/BatchUpdateBlobs`, request, {
    contentBytes: blobs.length * SMALL_BYTES,
    shape: `${blobs.length}`,
    verify(body) {
      const entries = all(fieldsOf(sole(body)), 1).map(fieldsOf)
      assert.deepEqual(
        keysOf(entries.map((entry) => readDigest(bytesIn(entry, 1)))),
        keysOf(digests),
        'BatchUpdate answers for others',
      )
      for (const entry of entries) assert.equal(numberIn(fieldsOf(bytesIn(entry, 2)), 1), 0, 'a blob was turned away')
    },
  })
}

export function batchRead(stock: Stock, call: number): Call {
  const random = randomNumbers(104_729 + call)
  const indices = new Set<number>()
  while (indices.size < Math.min(BATCH_BLOBS, stock.small)) indices.add(Math.floor(random() * stock.small))
  const digests = [...indices].map((index) => smallBlob(index).digest)
  return unary(`${CAS}/BatchReadBlobs`, digestList(digests), {
    contentBytes: digests.length * SMALL_BYTES,
    shape: `${digests.length}`,
    verify(body) {
      const blobs = readContents(sole(body), 1)
      assert.deepEqual(keysOf(blobs.map(({ digest }) => digest)), keysOf(digests), 'BatchRead answers with others')
      for (const { digest, data, code } of blobs) {
        assert.equal(code, 0, 'a blob was not read')
        assert.equal(hash('sha256', data), digest.hash, 'a blob has other bytes')
      }
    },
  })
}

const resultOf = (stock: Stock, action: number): Buffer =>
  actionResult(
    Array.from({ length: OUTPUTS_PER_ACTION }, (_, i) => ({
      path: `bazel-out/k8-fastbuild/bin/package/with/some/depth/_objs/target/output-${i}.o`,
      digest: smallBlob((action * OUTPUTS_PER_ACTION + i) % stock.small).digest,
    })),
  )

export function getResult(stock: Stock, action: number): Call {
  const expected = readOutputs(resultOf(stock, action))
  return unary(`${ACTION_CACHE}/GetActionResult`, getActionResultRequest(actionDigest(action)), {
    contentBytes: 0,
    shape: `${action}`,
    verify: (body) => assert.deepEqual(readOutputs(sole(body)), expected, 'the result has other outputs'),
  })
}

const readOutputs = (result: Uint8Array): string[] =>
  keysOf(all(fieldsOf(result), 2).map((file) => readDigest(bytesIn(fieldsOf(file), 2))))

export function updateResult(stock: Stock, action: number): Call {
  return unary(
    `${ACTION_CACHE}/UpdateActionResult`,
    updateActionResultRequest(actionDigest(action), resultOf(stock, action)),
    {
      contentBytes: 0,
      shape: undefined,
      verify: (body) => void sole(body),
    },
  )
}
