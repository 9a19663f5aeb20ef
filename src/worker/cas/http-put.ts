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

/** For all of it: a large blob over a slow line takes its time. */
const PUT_MS = 6 * 3_600_000

/** One blob whose bytes go out as they come. */
export function putInPieces(caller: HttpCaller, { path, size, form }: HttpPutOptions, failure: Failure): BlobWriter {
  const bytes = new PassThrough()
  const giveUp = new AbortController()
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
      signal: giveUp.signal,
    })
    .then((answer) => {
      if (answer.status !== 200) throw failure(answer.status, answer.body)
    })
  answered.catch(() => {}) // told to whoever writes or commits
  let isOver = false
  void answered
    .finally(() => {
      isOver = true
    })
    .catch(() => {})
  return {
    async write(piece) {
      if (isOver) return await answered // nobody reads any more, and this says why
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
      if (!isOver) giveUp.abort()
      bytes.destroy()
    },
  }
}
