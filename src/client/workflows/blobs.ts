import { createHash } from 'node:crypto'
import { createWriteStream, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { concurrencyLimit } from '../cas/concurrency-limit.ts'
import type { LocalBlob } from '../cas/local-blob.ts'
import { type ApiCaller, type ApiResponse, wholeText } from './http.ts'
import { smallFilesIn } from './small-files.ts'

/** The store of a server over its HTTP cache. Digests are SHA-256. */
export interface HttpBlobs {
  /** Sends what the server does not hold; each blob once. */
  put(blob: LocalBlob): Promise<void>
  fetchFile(digest: Digest, path: string, executable: boolean): Promise<void>
  /**
   * Fetches the small files among the outputs of a workflow run in one request, into a folder; returns their paths by
   * hash. All other files have to be fetched one by one.
   */
  fetchSmall(submission: string, files: readonly Digest[], folder: string): Promise<ReadonlyMap<string, string>>
  /** A directory with all that is in it; the path is made. */
  fetchTree(digest: Digest, path: string): Promise<void>
}

export interface HttpBlobsOptions {
  readonly caller: ApiCaller
  readonly instance: string
  readonly signal: AbortSignal
  readonly sent?: (bytes: number) => void
}

/** For less, asking costs more than sending. */
const ASKED_FROM_BYTES = 4096
const WHOLE_BYTES = 1024 * 1024
const SMALL_BYTES = 64 * 1024
/** For fewer files, one request more would be no gain. */
const FETCHED_AT_ONCE_FROM = 4
const AT_ONCE = 8
const MOST_DIRECTORY_BYTES = 64 * 1024 * 1024

export function httpBlobs({ caller, instance, signal, sent = () => {} }: HttpBlobsOptions): HttpBlobs {
  const pathOf = ({ hash }: Digest): string =>
    `${instance === '' ? '' : `/${instance.split('/').map(encodeURIComponent).join('/')}`}/cas/${hash}`
  const done = new Map<string, Promise<void>>()
  const send = async (blob: LocalBlob): Promise<void> => {
    const { digest } = blob
    const path = pathOf(digest)
    if (digest.size >= ASKED_FROM_BYTES && (await statusOf(caller.call({ method: 'HEAD', path }, signal))) === 200)
      return
    const body = digest.size <= WHOLE_BYTES ? await blob.whole() : blob.pieces()
    const headers = { 'content-length': String(digest.size) }
    const answer = await caller.call({ method: 'PUT', path, headers, body }, signal)
    const text = await wholeText(answer)
    if (answer.status >= 300) throw refused(`the server did not accept ${blob.name}`, answer, text)
    sent(digest.size)
  }
  const get = async (digest: Digest): Promise<ApiResponse> => {
    const answer = await caller.call({ method: 'GET', path: pathOf(digest) }, signal)
    if (answer.status === 200) return answer
    throw refused(`cannot download ${formatDigest(digest)}`, answer, await wholeText(answer))
  }
  const whole = async (digest: Digest): Promise<Uint8Array> => {
    const pieces: Uint8Array[] = []
    if (digest.size > 0) for await (const piece of checked(digest)((await get(digest)).body)) pieces.push(piece)
    return Buffer.concat(pieces)
  }
  const fetchFile: HttpBlobs['fetchFile'] = async (digest, path, executable) => {
    const mode = executable ? 0o755 : 0o644
    if (digest.size <= SMALL_BYTES) return writeFileSync(path, await whole(digest), { flag: 'wx', mode })
    const file = createWriteStream(path, { flags: 'wx', mode })
    await pipeline((await get(digest)).body, checked(digest), file)
  }
  const fetchTree: HttpBlobs['fetchTree'] = async (digest, path) => {
    await mkdir(path, { recursive: true })
    if (digest.size === 0) return
    if (digest.size > MOST_DIRECTORY_BYTES) throw refused(`${formatDigest(digest)} is no directory`)
    const { directoryFromProto } = await import('../../wire/reapi/directory.ts') // many a run has no directory to fetch
    const { files, directories } = directoryFromProto(await whole(digest), digest.fn)
    const busy = concurrencyLimit(AT_ONCE)
    for (const file of files) await busy.start(() => fetchFile(file.digest, join(path, file.name), file.executable))
    await busy.done()
    for (const below of directories) await fetchTree(below.digest, join(path, below.name))
  }
  return {
    fetchFile,
    fetchTree,
    fetchSmall: smallFetch(caller, signal),
    async put(blob) {
      if (blob.digest.size === 0) return
      const key = formatDigest(blob.digest)
      const before = done.get(key) ?? send(blob)
      done.set(key, before)
      await before
    },
  }
}

const smallFetch =
  (caller: ApiCaller, signal: AbortSignal): HttpBlobs['fetchSmall'] =>
  async (submission, files, folder) => {
    const small = files.filter(({ size }) => size > 0 && size <= SMALL_BYTES)
    if (small.length < FETCHED_AT_ONCE_FROM) return new Map()
    const path = `/api/v1/submissions/${encodeURIComponent(submission)}/files`
    const answer = await caller.call({ method: 'GET', path }, signal)
    if (answer.status === 200) return smallFilesIn(answer.body, small, folder)
    answer.body.resume() // an older server: they come one by one
    return new Map()
  }

/** Bytes that do not match the digest must not become a result. */
const checked = ({ hash, size }: Digest) =>
  async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const hasher = createHash('sha256')
    let count = 0
    for await (const piece of pieces) {
      hasher.update(piece)
      count += piece.length
      yield piece
    }
    if (count !== size || hasher.digest('hex') !== hash)
      throw refused(`the bytes of ${hash}/${size} did not arrive intact`)
  }

async function statusOf(answer: Promise<ApiResponse>): Promise<number> {
  const { status, body } = await answer
  body.resume()
  return status
}

const refused = (what: string, answer?: ApiResponse, text = ''): FaultError =>
  new FaultError({
    kind: 'unavailable',
    what: `${what}${answer === undefined ? '' : `: the server says ${answer.status} ${text.slice(0, 200)}`}`,
  })
