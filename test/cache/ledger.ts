import { expect } from 'vitest'
import type { Blob } from '../../src/check/reapi/probe/blob.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { type CacheClient, refusal } from './cache-client.ts'

/** The ways in which content is uploaded. */
export type Way = 'batch' | 'small' | 'large' | 'small zstd' | 'large zstd'

type Name = Blob['digest']

interface Sent {
  readonly way: Way
  readonly digest: Name
  isAcknowledged: boolean
  isChecked: boolean
}

/** The bytes requested by one BatchReadBlobs at most. */
const BATCH_BYTES = 3_000_000

/**
 * The blobs and results sent to a server, and its acknowledgements. Digests are enough: content whose hash differs from
 * the requested digest is wrong, whichever client uploaded it.
 */
export class Ledger {
  readonly #blobs: Sent[] = []
  /** By action: the result that was acknowledged last, and one that was sent after it without a response. */
  readonly #results = new Map<string, { digest: Name; held: string | undefined; open: string | undefined }>()
  #updates = 0

  sending(way: Way, { digest }: Blob): () => void {
    const sent: Sent = { way, digest, isAcknowledged: false, isChecked: false }
    this.#blobs.push(sent)
    return () => {
      sent.isAcknowledged = true
    }
  }

  updating(action: Name, stdout: string): () => void {
    const entry = this.#results.get(action.hash) ?? { digest: action, held: undefined, open: undefined }
    this.#results.set(action.hash, entry)
    entry.open = stdout
    return () => {
      entry.held = stdout
      entry.open = undefined
      this.#updates++
    }
  }

  kinds(): string[] {
    const ways: string[] = this.#blobs.filter(({ isAcknowledged }) => isAcknowledged).map(({ way }) => way)
    if (this.#updates > 0) ways.push('result')
    return [...new Set(ways)].sort()
  }

  summary(): string {
    const held = this.#blobs.filter(({ isAcknowledged }) => isAcknowledged)
    const bytes = held.reduce((sum, { digest }) => sum + digest.sizeBytes, 0)
    return `${held.length} blobs of ${Math.round(bytes / 1e6)} MB and ${this.#updates} results acknowledged, ${this.#blobs.length - held.length} blobs cut off`
  }

  /** Checks the digests of all blobs, the bytes of those not checked before (or of all), and all results. */
  async check(client: CacheClient, when: string, how: 'what is new' | 'everything' = 'what is new'): Promise<void> {
    await this.#checkNames(client, when)
    const looked = this.#blobs.filter(({ isChecked }) => how === 'everything' || !isChecked)
    const isSmall = ({ digest }: Sent): boolean => digest.sizeBytes < 1_000_000
    for (const batch of batchesOf(looked.filter(isSmall))) await this.#checkBatch(client, batch, when)
    for (const sent of looked.filter((each) => !isSmall(each))) await this.#checkStream(client, sent, when)
    for (const sent of looked) sent.isChecked = true
    await this.#checkResults(client, when)
  }

  async #checkNames({ api }: CacheClient, when: string): Promise<void> {
    const held = this.#blobs.filter(({ isAcknowledged }) => isAcknowledged)
    const absent = await api.findMissing(held.map(({ digest }) => digest))
    const lost = held.filter(({ digest }) => absent.some(({ hash }) => hash === digest.hash))
    expect(lost, `what was acknowledged is there, ${when}`).toEqual([])
  }

  async #checkBatch({ api, blobOf }: CacheClient, batch: readonly Sent[], when: string): Promise<void> {
    const answers = await api.batchRead(batch.map(({ digest }) => digest))
    expect(answers).toHaveLength(batch.length)
    for (const [index, { status, data, digest }] of answers.entries()) {
      const { isAcknowledged, way } = batch[index] as Sent
      const isHeld = (status?.code ?? 0) === STATUS.ok
      if (isHeld) expect(blobOf(data).digest, `a ${way} blob has its bytes, ${when}`).toEqual(digest)
      else expect([isAcknowledged, status?.code], `a ${way} blob, ${when}`).toEqual([false, STATUS.notFound])
    }
  }

  async #checkStream(client: CacheClient, { digest, isAcknowledged, way }: Sent, when: string): Promise<void> {
    const reading = client.bytestream.read(client.names.read(digest))
    if (!isAcknowledged) {
      const isHeld = await reading.then(
        () => true,
        () => false,
      )
      if (!isHeld) return expect((await refusal(reading)).code, `a ${way} blob, ${when}`).toBe(STATUS.notFound)
    }
    expect(client.blobOf(await reading).digest, `a ${way} blob has its bytes, ${when}`).toEqual(digest)
  }

  async #checkResults({ api }: CacheClient, when: string): Promise<void> {
    for (const [, entry] of this.#results) {
      const { digest, held, open } = entry
      const got = await api.getResult(digest, { inlineStdout: true }).then(
        ({ stdoutRaw }) => Buffer.from(stdoutRaw).toString(),
        async (error: unknown) => ((await refusal(Promise.reject(error))).code === STATUS.notFound ? undefined : error),
      )
      expect([held, open ?? held], `the result of ${digest.hash.slice(0, 8)}, ${when}`).toContain(got)
      entry.held = got as string | undefined
      entry.open = undefined
    }
  }
}

function* batchesOf(sent: readonly Sent[]): Generator<Sent[]> {
  let batch: Sent[] = []
  let bytes = 0
  for (const each of sent) {
    if (bytes + each.digest.sizeBytes > BATCH_BYTES || batch.length >= 1000) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(each)
    bytes += each.digest.sizeBytes
  }
  if (batch.length > 0) yield batch
}
