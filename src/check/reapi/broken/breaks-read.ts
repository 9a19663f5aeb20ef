import { deflateSync } from 'node:zlib'
import { STATUS } from '../../../grpc/status.ts'
import type { ReadRequest } from '../../../wire/gen/google/bytestream/bytestream.ts'
import { ZSTD } from '../probe/compressors.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { after, type Break, fail, misread, when } from './break.ts'
import type { Honest } from './honest.ts'
import { downloadOf, uploadOf } from './resource-name.ts'

const LARGE = 4_000_000

const isPacked = ({ resourceName }: ReadRequest): boolean => resourceName.includes('compressed-blobs/')
const isPackedAs =
  (name: string) =>
  (request: ReadRequest): boolean =>
    request.resourceName.includes(`-blobs/${name}/`)
const sizeIn = ({ resourceName }: ReadRequest): number => Number(resourceName.split('/').at(-1))
const plainBytes = ({ resourceName }: ReadRequest, { store }: Honest): Uint8Array =>
  store.get(downloadOf(resourceName).key) ?? new Uint8Array()
const isThere = ({ resourceName }: ReadRequest, { store }: Honest): boolean => store.has(downloadOf(resourceName).key)
const isOrdinary = (request: ReadRequest, honest: Honest): boolean =>
  !isPacked(request) && /\/[0-9a-f]{64}\/\d+$/.test(request.resourceName) && isThere(request, honest)

const tiresOfOneBlob: Break = ({ methods }) => {
  const counts = new Map<string, number>()
  return {
    read(request, call) {
      const count = (counts.get(request.resourceName) ?? 0) + 1
      counts.set(request.resourceName, count)
      return count > 8 ? fail(STATUS.resourceExhausted)() : methods.read(request, call)
    },
  }
}

const forgetsWhatWasLeft: Break = ({ methods }) => {
  const left = new Set<string>()
  return {
    read(request, call) {
      if (left.has(request.resourceName)) fail(STATUS.internal)()
      call.signal.addEventListener('abort', () => left.add(request.resourceName))
      return methods.read(request, call)
    },
  }
}

/** Returns a blob only in the form (compressed or not) in which it was uploaded. */
const keepsTheForm =
  (isRefused: (came: string | undefined, wanted: string | undefined) => boolean): Break =>
  ({ methods }) => {
    const forms = new Map<string, string | undefined>()
    return {
      async write(requests, call) {
        let name: string | undefined
        const noting = async function* () {
          for await (const request of requests) {
            name ??= request.resourceName
            yield request
          }
        }
        const answer = await methods.write(noting(), call)
        const { key, compressor } = uploadOf(name ?? '')
        forms.set(key.text, compressor?.name)
        return answer
      },
      read(request, call) {
        const { key, compressor } = downloadOf(request.resourceName)
        if (isRefused(forms.get(key.text), compressor?.name)) fail(STATUS.invalidArgument)()
        return methods.read(request, call)
      },
    }
  }

export const readBreaks = {
  'bytestream.read.whole': when(
    'read',
    (request, honest) => isOrdinary(request, honest) && request.readOffset === 0 && request.readLimit === 0,
    (request, honest) => [plainBytes(request, honest).toReversed()],
  ),
  'bytestream.read.large': after('read', (pieces, request) =>
    sizeIn(request) > LARGE && !isPacked(request) ? pieces.slice(0, -1) : pieces,
  ),
  'bytestream.read.message-size': after('read', (pieces, request) =>
    sizeIn(request) > LARGE ? [Buffer.concat(pieces)] : pieces,
  ),
  'bytestream.read.absent': when(
    'read',
    (request, honest) =>
      /\/[0-9a-f]{64}\/\d+$/.test(request.resourceName) && !isPacked(request) && !isThere(request, honest),
    () => [],
  ),
  'bytestream.read.offset': misread('read', (request) =>
    request.readLimit === 0 && request.readOffset > 0 && request.readOffset < sizeIn(request) && !isPacked(request)
      ? { ...request, readOffset: 0 }
      : request,
  ),
  'bytestream.read.offset-at-end': when(
    'read',
    (request) => request.readOffset > 0 && request.readOffset === sizeIn(request),
    fail(STATUS.outOfRange),
  ),
  'bytestream.read.offset-past-end': when(
    'read',
    (request) => !isPacked(request) && request.readOffset > sizeIn(request),
    () => [],
  ),
  'bytestream.read.offset-negative': misread('read', (request) =>
    isPacked(request) ? request : { ...request, readOffset: Math.max(0, request.readOffset) },
  ),
  'bytestream.read.limit': misread('read', (request) =>
    request.readOffset === 0 && request.readLimit > 0 && !isPacked(request) ? { ...request, readLimit: 0 } : request,
  ),
  'bytestream.read.limit-past-end': when(
    'read',
    (request) => request.readLimit > sizeIn(request),
    fail(STATUS.outOfRange),
  ),
  'bytestream.read.limit-negative': misread('read', (request) => ({
    ...request,
    readLimit: Math.max(0, request.readLimit),
  })),
  'bytestream.read.offset-and-limit': misread('read', (request) =>
    request.readOffset > 0 && request.readLimit > request.readOffset
      ? { ...request, readLimit: request.readLimit - request.readOffset }
      : request,
  ),
  'bytestream.read.concurrent': tiresOfOneBlob,
  'bytestream.read.slow-reader': () => ({ below: { leavesSlowReaders: true } }),
  'bytestream.read.cancelled': forgetsWhatWasLeft,
  'bytestream.read.zstd': when('read', isPackedAs('zstd'), (request, honest) => [plainBytes(request, honest)]),
  'bytestream.read.deflate': when('read', isPackedAs('deflate'), (request, honest) => [
    // deflate with a zlib header, the default of many libraries.
    deflateSync(plainBytes(request, honest)),
  ]),
  'bytestream.read.brotli': when('read', isPackedAs('brotli'), (request, honest) => [plainBytes(request, honest)]),
  'bytestream.read.compressed-large': after('read', (pieces, request) =>
    isPacked(request) && sizeIn(request) > LARGE ? pieces.slice(0, -1) : pieces,
  ),
  'bytestream.read.compressed-absent': when(
    'read',
    (request, honest) => isPackedAs('zstd')(request) && !isThere(request, honest),
    () => [],
  ),
  'bytestream.read.compressed-offset': when(
    'read',
    (request) => isPacked(request) && request.readOffset > 0 && request.readOffset < sizeIn(request),
    (request, honest) => [ZSTD.compress(plainBytes(request, honest)).subarray(request.readOffset)],
  ),
  'bytestream.read.compressed-offset-past-end': when(
    'read',
    (request) => isPacked(request) && request.readOffset > sizeIn(request),
    () => [],
  ),
  'bytestream.read.compressed-offset-negative': misread('read', (request) =>
    isPacked(request) ? { ...request, readOffset: Math.max(0, request.readOffset) } : request,
  ),
  'bytestream.read.compressed-limit': misread('read', (request) =>
    isPacked(request) ? { ...request, readLimit: 0 } : request,
  ),
  'bytestream.read.plain-of-compressed': keepsTheForm((came, wanted) => came !== undefined && wanted === undefined),
  'bytestream.read.every-form': keepsTheForm((came, wanted) => came === 'zstd' && wanted === 'brotli'),
} satisfies Partial<Record<BehaviourId, Break>>
