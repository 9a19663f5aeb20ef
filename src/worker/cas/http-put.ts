import { PassThrough } from 'node:stream'
import type { FaultError } from '../../base/fault.ts'
import type { BlobWriter, StoredForm } from '../../storage/blob-store.ts'
import type { HttpCaller } from '../links/http-caller.ts'

export interface HttpPutOptions {
  readonly path: string
  readonly size: number
  readonly form: StoredForm
}

type Failure = (status: number, body: Buffer) => FaultError

/** The time limit of the whole upload, for a large blob over a slow connection. */
const PUT_MS = 6 * 3_600_000

/** Uploads one blob in pieces, as they are written. */
export function putInPieces(caller: HttpCaller, { path, size, form }: HttpPutOptions, failure: Failure): BlobWriter {
  const bytes = new PassThrough()
  const aborting = new AbortController()
  const answered = caller
    .call({
      method: 'PUT',
      path,
      headers: {
        'x-digest-sizebytes': String(size),
        ...(form === 'identity' ? { 'content-length': String(size) } : { 'content-encoding': 'zstd' }),
      },
      body: bytes,
      timeoutMs: PUT_MS,
      signal: aborting.signal,
    })
    .then((answer) => {
      if (answer.status !== 200) throw failure(answer.status, answer.body)
    })
  answered.catch(() => {}) // reported by `write` and `commit`
  let isOver = false
  void answered
    .finally(() => {
      isOver = true
    })
    .catch(() => {})
  return {
    async write(piece) {
      if (isOver) return await answered // the request has ended; this throws the reason
      const copy = Buffer.from(piece)
      if (bytes.write(copy)) return
      await Promise.race([new Promise<void>((resolve) => void bytes.once('drain', resolve)), answered])
    },
    async commit() {
      bytes.end()
      await answered
      isOver = true
    },
    abort() {
      if (!isOver) aborting.abort()
      bytes.destroy()
    },
  }
}
