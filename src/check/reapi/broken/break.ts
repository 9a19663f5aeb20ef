import type { ServerCall } from '../../../grpc/service.ts'
import { GrpcError, type StatusCode } from '../../../grpc/status.ts'
import type { WriteRequest, WriteResponse } from '../../../wire/gen/google/bytestream/bytestream.ts'
import type { Honest } from './honest.ts'
import type { Methods } from './methods.ts'
import { type ResourceName, uploadOf } from './resource-name.ts'

/** One defect: replacements for the methods that behave wrongly. */
export type Break = (honest: Honest) => Partial<Methods>

type Name = Exclude<keyof Methods, 'write' | 'below'>
type Request<K extends Name> = Parameters<Methods[K]>[0]
type Response<K extends Name> = ReturnType<Methods[K]>

export const fail = (code: StatusCode) => (): never => {
  throw new GrpcError(code, 'broken on purpose')
}

type Method<K extends Name> = (request: Request<K>, call: ServerCall) => Response<K>

const rightOf = <K extends Name>(honest: Honest, name: K): Method<K> => honest.methods[name] as unknown as Method<K>

const replacing = <K extends Name>(name: K, method: Method<K>): Partial<Methods> => ({ [name]: method })

type Answer<K extends Name> = (request: Request<K>, honest: Honest) => Response<K>

/** Answers matching requests wrongly and all others correctly. */
export const when =
  <K extends Name>(name: K, isSo: (request: Request<K>, honest: Honest) => boolean, answer: Answer<K>): Break =>
  (honest) => {
    const right = rightOf(honest, name)
    return replacing(name, (request, call) => (isSo(request, honest) ? answer(request, honest) : right(request, call)))
  }

/** Changes the request, then answers the changed request correctly. */
export const misread =
  <K extends Name>(name: K, change: (request: Request<K>, honest: Honest) => Request<K>): Break =>
  (honest) => {
    const right = rightOf(honest, name)
    return replacing(name, (request, call) => right(change(request, honest), call))
  }

/** Changes the answer. */
export const after =
  <K extends Name>(
    name: K,
    change: (response: Response<K>, request: Request<K>, honest: Honest) => Response<K>,
  ): Break =>
  (honest) => {
    const right = rightOf(honest, name)
    return replacing(name, (request, call) => change(right(request, call), request, honest))
  }

/** An upload that finished or was interrupted. */
export interface Received extends ResourceName {
  readonly messages: readonly WriteRequest[]
  readonly bytes: Uint8Array
  readonly isFinished: boolean
}

/** Answers matching uploads wrongly after all their messages have arrived. */
export const whenReceived =
  (
    isSo: (upload: Received, honest: Honest) => boolean,
    answer: (upload: Received, honest: Honest) => WriteResponse,
  ): Break =>
  (honest) => ({
    async write(requests, call) {
      const messages: WriteRequest[] = []
      for await (const request of requests) {
        messages.push(request)
        if (request.finishWrite || isExisting(messages, honest)) break
      }
      const upload = received(messages)
      if (upload !== undefined && isSo(upload, honest)) return answer(upload, honest)
      return await honest.methods.write(replay(messages), call)
    },
  })

/** Answers uploads whose first message matches wrongly, without reading the rest. */
export const whenOpened =
  (
    isSo: (first: WriteRequest, honest: Honest) => boolean,
    answer: (first: WriteRequest, honest: Honest) => WriteResponse,
  ): Break =>
  (honest) => ({
    async write(requests, call) {
      const rest = requests[Symbol.asyncIterator]()
      const first = await rest.next()
      if (first.done) return await honest.methods.write(replay([]), call)
      if (isSo(first.value, honest)) return answer(first.value, honest)
      return await honest.methods.write(together(first.value, rest), call)
    },
  })

/** Changes the messages of an upload before they are processed. */
export const misreadMessages =
  (
    change: (message: WriteRequest, state: { index: number; first: WriteRequest; bytes: number }) => WriteRequest,
  ): Break =>
  (honest) => ({
    write: (requests, call) => honest.methods.write(changed(requests, change), call),
  })

async function* changed(requests: AsyncIterable<WriteRequest>, change: Parameters<typeof misreadMessages>[0]) {
  let first: WriteRequest | undefined
  let index = 0
  let bytes = 0
  for await (const message of requests) {
    first ??= message
    yield change(message, { index: index++, first, bytes })
    bytes += message.data.length
  }
}

async function* together(first: WriteRequest, rest: AsyncIterator<WriteRequest>): AsyncGenerator<WriteRequest> {
  yield first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

async function* replay(messages: readonly WriteRequest[]): AsyncGenerator<WriteRequest> {
  yield* messages
}

const isExisting = ([first]: readonly WriteRequest[], { store }: Honest): boolean => {
  const name = named(first)
  return name !== undefined && store.has(name.key)
}

export function named(first: WriteRequest | undefined): ResourceName | undefined {
  try {
    return first === undefined ? undefined : uploadOf(first.resourceName)
  } catch {
    return undefined
  }
}

function received(messages: readonly WriteRequest[]): Received | undefined {
  const name = named(messages[0])
  if (name === undefined) return undefined
  const bytes = Buffer.concat(messages.map(({ data }) => data))
  return { ...name, messages, bytes, isFinished: messages.at(-1)?.finishWrite === true }
}
