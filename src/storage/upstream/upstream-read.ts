import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { ClientCall } from '../../grpc/client/client-call.ts'
import { readReadResponse, readRequest } from '../../wire/calls/byte-stream.ts'
import { formatReadName } from '../../wire/reapi/resource-name.ts'
import type { BlobReader, StoredForm } from '../blob-store.ts'
import type { Upstream } from './upstream.ts'
import { isAbsence, isTransient, understood, untrue, upstreamFault, upstreamUnavailable } from './upstream-fault.ts'

/**
 * Downloads one blob by ByteStream.Read. `openDownload` waits for the first message, because only this message proves
 * that the upstream has the blob. A download that fails continues at the same offset, on a new connection if necessary.
 * A compressed download cannot continue, because its offset is unknown: it fails. A slow reader stops the upstream from
 * sending. If the reader does not start within the timeout, the call is cancelled; if the reader starts later, a new
 * call is made.
 */
export interface Download {
  readonly instance: string
  readonly digest: Digest
  readonly form: StoredForm
  readonly offset: number
  /** The number of bytes to read; at least one. */
  readonly count: number
}

const PATH = '/google.bytestream.ByteStream/Read'
/** The most empty messages in a row. */
const MOST_EMPTY_MESSAGES = 1000

export async function openDownload(
  upstream: Upstream,
  download: Download,
  signal?: AbortSignal,
): Promise<BlobReader | undefined> {
  const first = await open(upstream, { download, have: 0 }, signal)
  if (first === undefined) return undefined
  let isGivenUp = false
  const forget = upstream.clock.after(upstream.timeoutMs, () => {
    isGivenUp = true
    first.call.cancel('the reader disconnected')
  })
  const begin = async (): Promise<Opened | undefined> => {
    forget()
    return isGivenUp ? await open(upstream, { download, have: 0 }, signal) : first
  }
  return { form: download.form, pieces: piecesOf(upstream, { download, begin, signal }) }
}

interface Opened {
  readonly call: ClientCall
  /** The first message. Undefined when the upstream sent no message. */
  readonly message: Uint8Array | undefined
}

interface Progress {
  readonly download: Download
  readonly have: number
}

/** Returns undefined when the upstream does not have the blob. */
async function open(
  upstream: Upstream,
  { download, have }: Progress,
  signal: AbortSignal | undefined,
): Promise<Opened | undefined> {
  const { instance, digest, form, offset, count } = download
  const limit = offset + count < digest.size ? count - have : 0
  const resourceName = formatReadName({ instance, digest, compressor: form })
  const request = readRequest({ resourceName, offset: offset + have, limit })
  return await upstream.retrying(async () => {
    const call = upstream.channel.serverStreaming(PATH, request, signal === undefined ? {} : { signal })
    try {
      return { call, message: await upstream.within(call, call.next()) }
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
  }, signal)
}

interface Begun {
  readonly download: Download
  begin(): Promise<Opened | undefined>
  readonly signal: AbortSignal | undefined
}

async function* piecesOf(upstream: Upstream, { download, begin, signal }: Begun): AsyncGenerator<Uint8Array> {
  const tally = new Tally(download)
  let failures = 0
  let opened = stillThere(await begin(), download)
  try {
    for (let { message } = opened; message !== undefined; ) {
      const data = tally.take(message)
      if (data.length > 0) {
        failures = 0
        yield data
      }
      try {
        message = await upstream.within(opened.call, opened.call.next())
      } catch (error) {
        if (tally.isWhole && isTransient(error)) break
        const mayGoOn = download.form === 'identity' && isTransient(error) && failures++ < upstream.retries
        if (!mayGoOn || signal?.aborted === true) throw upstreamFault(error, signal)
        opened = stillThere(await open(upstream, { download, have: tally.have }, signal), download)
        message = opened.message
      }
    }
    tally.end()
  } finally {
    opened.call.cancel('the reader is done')
  }
}

function stillThere(opened: Opened | undefined, { digest }: Download): Opened {
  if (opened === undefined) throw upstreamUnavailable(`the upstream lost ${formatDigest(digest)} while it was read`)
  return opened
}

/** Counts the received bytes, and throws when there are too many, too few, or too many empty messages. */
class Tally {
  readonly #download: Download
  readonly #most: number
  #empty = 0
  have = 0

  constructor(download: Download) {
    this.#download = download
    const { form, count } = download
    // Compressed data may be longer than the blob: by at most an eighth and 64 KiB.
    this.#most = form === 'zstd' ? count + count / 8 + 64 * 1024 : count
  }

  get isWhole(): boolean {
    return this.#download.form === 'identity' && this.have === this.#download.count
  }

  take(message: Uint8Array): Uint8Array {
    const data = understood(() => readReadResponse(message))
    this.#empty = data.length === 0 ? this.#empty + 1 : 0
    if (this.#empty > MOST_EMPTY_MESSAGES)
      throw upstreamUnavailable('the upstream sends messages without end or content')
    this.have += data.length
    if (this.have > this.#most) throw this.#wrong(`more than ${this.#most}`)
    return data
  }

  end(): void {
    if (this.#download.form === 'identity' && !this.isWhole) throw this.#wrong(`only ${this.have}`)
  }

  #wrong(count: string) {
    const { digest } = this.#download
    return untrue(`the upstream sent ${count} instead of ${this.#download.count} bytes of ${formatDigest(digest)}`)
  }
}
