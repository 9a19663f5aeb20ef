import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { Digest, DigestFunction, DigestList } from '../../base/digest.ts'
import { digestAt } from '../../base/digest-list.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { BlobStore, ReadRange } from '../../storage/blob-store.ts'
import { backoff } from '../links/backoff.ts'
import type { HttpAnswer, HttpCaller, HttpRequest } from '../links/http-caller.ts'
import { atOnce } from '../rooms/pacing.ts'
import { putInPieces } from './http-put.ts'

export interface HttpStoreOptions {
  readonly caller: HttpCaller
  readonly instance: string
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  /** How long a request is retried while the server cannot answer; default `PATIENCE_MS`. */
  readonly patienceMs?: number
}

const AT_ONCE = 16
const CALL_MS = 60_000
/** A restarted server answers within this time. */
const PATIENCE_MS = 30_000
const NEVER = new AbortController().signal

/**
 * A store behind the routes that Bazel's `--remote_cache=http://…` uses, for networks that allow only HTTP. A request
 * names one blob. The length of its hash determines the digest function: a server supports one function of each length.
 */
export function httpStore(options: HttpStoreOptions): BlobStore {
  const { caller, instance } = options
  const folder = instance === '' ? '' : `/${instance.split('/').map(encodeURIComponent).join('/')}`
  const pathOf = (hash: string): string => `${folder}/cas/${hash}`
  const call = (method: HttpRequest['method'], hash: string, body?: Uint8Array): Promise<HttpAnswer> =>
    patiently(options, { method, path: pathOf(hash), timeoutMs: CALL_MS, ...(body && { body }) })

  const find = async (fn: DigestFunction, hash: string): Promise<Digest | undefined> => {
    const { status, body, headers } = await call('HEAD', hash)
    if (status === 404) return undefined
    if (status !== 200) throw failure(status, body)
    return { fn, hash, size: Number(headers['content-length']) }
  }
  const isAbsent = async ({ fn, hash, size }: Digest): Promise<boolean> =>
    size > 0 && (await find(fn, hash))?.size !== size
  const whole = async ({ hash, size }: Digest): Promise<Uint8Array | undefined> => {
    if (size === 0) return new Uint8Array()
    const { status, body } = await call('GET', hash)
    if (status === 404) return undefined
    if (status !== 200) throw failure(status, body)
    return body.length === size ? body : undefined
  }
  return {
    find,
    async missing(list, absent) {
      await atOnce(indexesOf(list), AT_ONCE, async (index) => {
        absent[index] = (await isAbsent(digestAt(list, index))) ? 1 : 0
      })
    },
    async readMany(list, into) {
      await atOnce(indexesOf(list), AT_ONCE, async (index) => {
        const bytes = await whole(digestAt(list, index))
        if (bytes === undefined) into.absent(index)
        else into.found(index, bytes)
      })
    },
    async read(digest, range, signal = NEVER) {
      if (await isAbsent(digest)) return undefined
      const request = { method: 'GET', path: pathOf(digest.hash), timeoutMs: CALL_MS, signal } as const
      return { form: 'identity', pieces: pieces(digest, range, (headers) => caller.open({ ...request, headers })) }
    },
    async writeMany(list, blobs) {
      await atOnce(indexesOf(list), AT_ONCE, async (index) => {
        const { status, body } = await call('PUT', digestAt(list, index).hash, blobs[index] ?? new Uint8Array())
        if (status !== 200) throw failure(status, body)
      })
    },
    write: (digest, form) => putInPieces(caller, { path: pathOf(digest.hash), size: digest.size, form }, failure),
  }
}

const indexesOf = ({ count }: DigestList): number[] => Array.from({ length: count }, (_, index) => index)

/** Retries for `PATIENCE_MS` while the server cannot be reached or answers with a temporary error. */
async function patiently(
  { caller, clock, random, patienceMs = PATIENCE_MS }: HttpStoreOptions,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const until = clock.monotonic() + patienceMs
  const pauses = backoff(clock, random)
  for (;;) {
    const isLast = clock.monotonic() >= until
    const answer = await caller.call(request).catch((error: unknown) => {
      if (isLast || !(error instanceof FaultError)) throw error
      return undefined
    })
    if (answer !== undefined && (isLast || !isTemporary(answer.status))) return answer
    await pauses.pause(NEVER)
  }
}

const isTemporary = (status: number): boolean => status === 429 || (status >= 500 && status !== 507)

type Open = (headers: Record<string, string>) => Promise<IncomingMessage>

/** The request is sent with the first read: a reader that is never used holds no connection. */
async function* pieces({ size }: Digest, { offset, limit = size }: ReadRange, open: Open): AsyncGenerator<Uint8Array> {
  const last = Math.min(size, offset + limit) - 1
  if (last < offset) return
  const isWhole = offset === 0 && last === size - 1
  const answer = await open(isWhole ? {} : { range: `bytes=${offset}-${last}` })
  if (answer.statusCode !== (isWhole ? 200 : 206)) throw failure(answer.statusCode ?? 0, await startOf(answer))
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) yield piece
  } catch (error) {
    throw new FaultError({ kind: 'unavailable', what: `the store broke off: ${(error as Error).message}` }, error)
  }
}

async function startOf(answer: IncomingMessage): Promise<Buffer> {
  for await (const piece of answer as AsyncIterable<Buffer>) return piece
  return Buffer.alloc(0)
}

const MOST_WORDS = 500

/** The fault for an unexpected status. */
function failure(status: number, body: Buffer): FaultError {
  const words = body.toString().trim().slice(0, MOST_WORDS)
  if (status === 507) return new FaultError({ kind: 'exhausted', resource: 'space in the store', retryAfterMs: 10_000 })
  if (status === 400 || status === 413) return invalid(`the store does not take it: ${words}`)
  // The answer to a HEAD request has no body that could name the cause.
  const why =
    status === 421 && words === '' ? 'this is the gRPC port; worker.protocol = "http" needs the HTTP port' : words
  return new FaultError({ kind: 'unavailable', what: `the store answered ${status}: ${why}` })
}
