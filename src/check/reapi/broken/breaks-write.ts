import { STATUS } from '../../../grpc/status.ts'
import type { WriteRequest } from '../../../wire/gen/google/bytestream/bytestream.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { type Break, fail, misreadMessages, named, type Received, when, whenOpened, whenReceived } from './break.ts'
import type { Honest } from './honest.ts'
import { MAX_BLOB_BYTES } from './profile.ts'
import { uploadOf } from './resource-name.ts'
import type { StoreKey } from './store.ts'

const INVALID = STATUS.invalidArgument
const CLAIM = (upload: Received) => ({ committedSize: upload.key.digest.sizeBytes })

const isPlain = ({ compressor }: Received): boolean => compressor === undefined
const isRight = ({ key, bytes }: Received): boolean => key.fn.hash(bytes) === key.digest.hash
const isNew = ({ key }: Received, { store }: Honest): boolean => !store.has(key)

/** Calls back with each message and the bytes before it; passes the stream on unchanged. */
const watching =
  (look: (message: WriteRequest, index: number, first: WriteRequest, honest: Honest) => void): Break =>
  (honest) => ({
    write(requests, call) {
      const watched = async function* () {
        let first: WriteRequest | undefined
        let index = 0
        for await (const message of requests) {
          first ??= message
          look(message, index++, first, honest)
          yield message
        }
      }
      return honest.methods.write(watched(), call)
    },
  })

const refusingLater = (isSo: (message: WriteRequest, first: WriteRequest) => boolean): Break =>
  watching((message, index, first) => {
    if (index > 0 && isSo(message, first)) fail(INVALID)()
  })

/** Uploads of a stored blob. */
const onExisting =
  (answer: (requests: AsyncIterator<WriteRequest>, first: WriteRequest, key: StoreKey) => Promise<number>): Break =>
  ({ methods, store }) => ({
    async write(requests, call) {
      const rest = requests[Symbol.asyncIterator]()
      const first = await rest.next()
      const name = first.done ? undefined : named(first.value)
      if (!first.done && name !== undefined && name.compressor === undefined && store.has(name.key)) {
        return { committedSize: await answer(rest, first.value, name.key) }
      }
      const again = async function* () {
        if (!first.done) yield first.value
        for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
      }
      return await methods.write(again(), call)
    },
  })

const failsWhenOvertaken: Break = (honest) => {
  return watching((_, index, first) => {
    if (index > 0 && honest.store.has(uploadOf(first.resourceName).key)) fail(STATUS.aborted)()
  })(honest)
}

/** One temporary file for each digest. */
const sharesItsDraft: Break = ({ methods }) => {
  const drafts = new Set<string>()
  return {
    async write(requests, call) {
      let mine: string | undefined
      const noting = async function* () {
        for await (const request of requests) {
          if (mine === undefined) {
            const { text } = uploadOf(request.resourceName).key
            if (drafts.has(text)) fail(STATUS.internal)()
            mine = text
            drafts.add(text)
          }
          yield request
        }
      }
      return await methods.write(noting(), call).finally(() => drafts.delete(mine ?? ''))
    },
  }
}

const staysLockedWhenLeft: Break = ({ methods }) => {
  const locked = new Set<string>()
  return {
    write(requests, call) {
      const noting = async function* () {
        let key: string | undefined
        for await (const request of requests) {
          key ??= named(request)?.key.text
          if (key !== undefined && locked.has(key)) fail(STATUS.aborted)()
          const mine = key
          call.signal.addEventListener('abort', () => locked.add(mine ?? ''))
          yield request
        }
      }
      return methods.write(noting(), call)
    },
  }
}

const takesANameOnce: Break = ({ methods }) => {
  const names = new Set<string>()
  return {
    write(requests, call) {
      const noting = async function* () {
        let isFirst = true
        for await (const request of requests) {
          if (isFirst && names.has(request.resourceName)) fail(INVALID)()
          isFirst = false
          names.add(request.resourceName)
          yield request
        }
      }
      return methods.write(noting(), call)
    },
  }
}

export const writeBreaks = {
  'bytestream.write.one-message': whenReceived(
    (upload, honest) => upload.messages.length === 1 && isPlain(upload) && isNew(upload, honest) && isRight(upload),
    CLAIM,
  ),
  'bytestream.write.several-messages': whenReceived(({ messages }) => messages.length > 8, fail(INVALID)),
  'bytestream.write.large': whenReceived(({ bytes }) => bytes.length > 6_000_000, fail(STATUS.resourceExhausted)),
  'bytestream.write.committed-size': (honest) => ({
    write: async (requests, call) => {
      const { committedSize } = await honest.methods.write(requests, call)
      return { committedSize: committedSize > 0 ? committedSize - 1 : committedSize }
    },
  }),
  'bytestream.write.name-once': refusingLater(({ resourceName }) => resourceName === ''),
  'bytestream.write.name-repeated': refusingLater(({ resourceName }, first) => resourceName === first.resourceName),
  'bytestream.write.name-changed': misreadMessages((message, { first }) => ({
    ...message,
    resourceName: first.resourceName,
  })),
  'bytestream.write.empty-message': refusingLater(({ data, finishWrite }) => data.length === 0 && !finishWrite),
  'bytestream.write.finish-alone': refusingLater(({ data, finishWrite }) => data.length === 0 && finishWrite),
  'bytestream.write.offset-mismatch': misreadMessages((message, { index, first, bytes }) =>
    index === 0 || first.resourceName.includes('compressed-blobs') ? message : { ...message, writeOffset: bytes },
  ),
  'bytestream.write.offset-first': whenReceived(
    ({ messages, key, bytes }) => messages[0]?.writeOffset === 100 && bytes.length + 100 === key.digest.sizeBytes,
    CLAIM,
  ),
  'bytestream.write.existing-answers-at-once': onExisting(async (rest, _, { digest }) => {
    for (let next = await rest.next(); !next.done; ) next = await rest.next()
    return digest.sizeBytes
  }),
  'bytestream.write.existing-committed-size': onExisting(async (_, { data }) => data.length),
  'bytestream.write.existing-late-data': onExisting(async (rest, _, { digest }) => {
    const next = await rest.next()
    return next.done ? digest.sizeBytes : fail(INVALID)()
  }),
  'bytestream.write.overtaken': failsWhenOvertaken,
  'bytestream.write.concurrent': sharesItsDraft,
  'bytestream.write.hash-mismatch': whenReceived(
    (upload) =>
      isPlain(upload) && upload.isFinished && upload.bytes.length === upload.key.digest.sizeBytes && !isRight(upload),
    CLAIM,
  ),
  'bytestream.write.hash-mismatch-not-stored': whenReceived(
    (upload) => isPlain(upload) && upload.bytes.length === upload.key.digest.sizeBytes && !isRight(upload),
    ({ key, bytes }, { store }) => {
      store.force(key, bytes)
      return fail(INVALID)()
    },
  ),
  'bytestream.write.too-short': whenReceived(
    (upload, honest) =>
      isPlain(upload) &&
      isNew(upload, honest) &&
      upload.isFinished &&
      upload.bytes.length < upload.key.digest.sizeBytes,
    CLAIM,
  ),
  'bytestream.write.too-long': whenReceived(
    (upload) => isPlain(upload) && upload.bytes.length > upload.key.digest.sizeBytes,
    CLAIM,
  ),
  'bytestream.write.unfinished': whenReceived(
    (upload) => isPlain(upload) && !upload.isFinished && upload.bytes.length < upload.key.digest.sizeBytes,
    ({ key, bytes }, { store }) => {
      store.force(key, bytes)
      return fail(INVALID)()
    },
  ),
  'bytestream.write.unfinished-answer': whenReceived((upload) => isPlain(upload) && !upload.isFinished, CLAIM),
  'bytestream.write.no-message': (honest) => ({
    async write(requests, call) {
      const rest = requests[Symbol.asyncIterator]()
      const first = await rest.next()
      if (first.done) return { committedSize: 0 }
      const again = async function* () {
        yield first.value
        for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
      }
      return await honest.methods.write(again(), call)
    },
  }),
  'bytestream.write.cancelled': staysLockedWhenLeft,
  'bytestream.write.resume': takesANameOnce,
  'bytestream.write.over-limit': whenOpened(
    (first) => (named(first)?.key.digest.sizeBytes ?? 0) > MAX_BLOB_BYTES,
    ({ data }) => ({ committedSize: data.length }),
  ),
} satisfies Partial<Record<BehaviourId, Break>>

export const queryBreaks = {
  'bytestream.query.implemented': when('queryWriteStatus', () => true, fail(STATUS.unimplemented)),
  'bytestream.query.after-write': when(
    'queryWriteStatus',
    ({ resourceName }, { store }) => store.has(uploadOf(resourceName).key),
    ({ resourceName }) => ({ committedSize: uploadOf(resourceName).key.digest.sizeBytes, complete: false }),
  ),
  'bytestream.query.committed-size': when(
    'queryWriteStatus',
    ({ resourceName }, { store }) => store.has(uploadOf(resourceName).key),
    () => ({ committedSize: 0, complete: true }),
  ),
  'bytestream.query.existing': (honest) => {
    const written = new Set<string>()
    return {
      ...watching((message) => void written.add(message.resourceName))(honest),
      queryWriteStatus: (request) =>
        written.has(request.resourceName) || request.resourceName.includes('compressed-blobs')
          ? honest.methods.queryWriteStatus(request)
          : { committedSize: 0, complete: false },
    }
  },
  'bytestream.query.compressed': when(
    'queryWriteStatus',
    ({ resourceName }) => resourceName.includes('compressed-blobs'),
    () => ({ committedSize: 0, complete: false }),
  ),
  'bytestream.query.unknown': (honest) => ({
    queryWriteStatus(request) {
      const answer = honest.methods.queryWriteStatus(request)
      return answer.complete || answer.committedSize > 0 ? answer : fail(STATUS.notFound)()
    },
  }),
  'bytestream.query.partial': (honest) => ({
    queryWriteStatus: (request) => ({
      ...honest.methods.queryWriteStatus(request),
      ...(isBegun(request, honest) ? { complete: true } : {}),
    }),
  }),
} satisfies Partial<Record<BehaviourId, Break>>

const isBegun = (request: { readonly resourceName: string }, { methods }: Honest): boolean =>
  methods.queryWriteStatus(request).committedSize > 0
