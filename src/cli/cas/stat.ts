import type { Terminal } from '../../app/process/terminal.ts'
import type { Digest } from '../../base/digest.ts'
import { formatDigest, parseDigest } from '../../base/digest-text.ts'
import { isEmptyDigest } from '../../base/empty-blob.ts'
import { casClient } from '../../client/cas/cas-client.ts'
import { storageClient } from '../../client/cas/storage-client.ts'
import type { StorageFigures } from '../../model/storage-figures.ts'
import { bytesText, countText, secondsText } from '../output/text.ts'
import { type Session, withServer } from '../session/cas-session.ts'
import type { DigestOptions } from '../session/grid-flags.ts'
import { ExitRequest } from '../session/verdict.ts'

/** Digests per request. */
const GROUP = 5000

export async function runStat(texts: readonly string[], options: DigestOptions, terminal: Terminal): Promise<void> {
  const digests = texts.map((text) => parseDigest(text, options.digestFunction))
  await withServer(options, terminal, async (session) => {
    if (digests.length > 0) return await printBlobs(digests, options, { terminal, session })
    const figures = await storageClient(session.rpcs, session.signal).figures()
    terminal.out(options.json ? `${JSON.stringify(figures)}\n` : figuresText(figures))
  })
}

interface Place {
  readonly terminal: Terminal
  readonly session: Session
}

interface Answer {
  readonly digest: string
  readonly held: boolean
  readonly forms: readonly string[]
}

async function printBlobs(digests: readonly Digest[], options: DigestOptions, { terminal, session }: Place) {
  const { rpcs, signal, newId } = session
  const client = casClient({ rpcs, instance: options.instance, fn: options.digestFunction, newId, signal })
  const { compressors } = await client.offer()
  const forms = ['identity', ...compressors.filter((name) => name !== 'identity')]
  let absent = 0
  const answers: Answer[] = []
  for (let from = 0; from < digests.length; from += GROUP) {
    const group = digests.slice(from, from + GROUP)
    const missing = await client.missing(group)
    for (const digest of group) {
      const isHeld = isEmptyDigest(digest) || !missing.has(formatDigest(digest))
      if (!isHeld) absent++
      answers.push({ digest: formatDigest(digest), held: isHeld, forms: isHeld ? forms : [] })
    }
  }
  const line = ({ digest, held }: Answer) =>
    held ? `held    ${digest}  as ${forms.join(', ')}\n` : `absent  ${digest}\n`
  terminal.out(options.json ? `${JSON.stringify({ blobs: answers })}\n` : answers.map(line).join(''))
  if (absent > 0) throw new ExitRequest(1)
}

function figuresText(figures: StorageFigures): string {
  const { diskBytes, liveBytes, limitBytes, oldestTouchSeconds } = figures
  const part = limitBytes === 0 ? 0 : (100 * diskBytes) / limitBytes
  const rows: [string, string][] = [
    ['blobs', countText(figures.blobs)],
    ['bytes', bytesText(liveBytes)],
    [
      'disk',
      `${bytesText(diskBytes)} of ${bytesText(limitBytes)} (${part.toFixed(1)}%), ${countText(figures.packs)} files`,
    ],
    ['unused', `${bytesText(Math.max(0, diskBytes - liveBytes))} in files that are kept for other blobs`],
    ['pinned', `${countText(figures.pinnedBlobs)} blobs`],
    [
      'evicted',
      `${countText(figures.evictedBlobs)} blobs, ${bytesText(figures.freedBytes)} given back since the start`,
    ],
    ['oldest touch', oldestTouchSeconds === undefined ? 'none' : `${secondsText(oldestTouchSeconds)} ago`],
    ['open for', secondsText(figures.openSeconds)],
  ]
  if (figures.isReclaiming) rows.push(['now', 'space is being reclaimed'])
  return rows.map(([name, value]) => `${name.padEnd(14)}${value}\n`).join('')
}
