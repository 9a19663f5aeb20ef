import { stat } from 'node:fs/promises'
import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { casClient } from '../../client/cas/cas-client.ts'
import { type Uploader, uploader } from '../../client/cas/cas-upload.ts'
import { fileBlob } from '../../client/cas/local-blob.ts'
import { sendDirectory, sendTree } from '../../client/trees/local-tree.ts'
import { statusLine, type TransferTally, transferTally } from '../output/progress.ts'
import { Spool } from '../output/spool.ts'
import { standardInput } from '../output/stdio.ts'
import { bytesText, countText, pathText } from '../output/text.ts'
import { withServer } from '../session/cas-session.ts'
import type { DigestOptions } from '../session/grid-flags.ts'

export interface PutOptions extends DigestOptions {
  readonly compress?: 'zstd'
  readonly tree?: true
  readonly quiet?: true
}

interface Entry {
  readonly path: string
  readonly digest: Digest
  readonly kind: 'file' | 'directory' | 'tree'
}

export async function runPut(paths: readonly string[], options: PutOptions, terminal: Terminal): Promise<void> {
  await withServer(options, terminal, async ({ rpcs, signal, newId }) => {
    const { instance, digestFunction: fn } = options
    const line = statusLine(terminal, systemClock)
    const meter = transferTally(line)
    const client = casClient({ rpcs, instance, fn, newId, signal })
    const uploads = uploader({ client, meter, compress: options.compress === 'zstd' })
    const entries: Entry[] = []
    const spool = new Spool()
    try {
      for (const path of paths) await putOne(path, { uploads, entries, options, spool })
      await uploads.finish()
    } finally {
      line.clear()
      await spool.remove()
    }
    terminal.out(options.json ? jsonText(entries, meter) : listText(entries))
    if (!options.json && terminal.errIsTerminal) terminal.err(summary(meter))
  })
}

interface Putting {
  readonly uploads: Uploader
  readonly entries: Entry[]
  readonly options: PutOptions
  readonly spool: Spool
}

async function putOne(path: string, { uploads, entries, options, spool }: Putting): Promise<void> {
  const { digestFunction: fn, tree, quiet } = options
  if (path === '-') {
    const blob = await spool.take(standardInput(), fn)
    await uploads.add(blob)
    entries.push({ path, digest: blob.digest, kind: 'file' })
    return
  }
  if ((await stat(path).catch(absent(path))).isDirectory()) {
    const found: Entry[] = []
    const digest = await (tree ? sendTree : sendDirectory)(path, {
      fn,
      blob: uploads.add,
      seen: (at, of, kind) => void (quiet || found.push({ path: at, digest: of, kind })),
    })
    if (quiet) entries.push({ path, digest, kind: tree ? 'tree' : 'directory' })
    else for (const entry of found) entries.push(entry)
    return
  }
  const blob = await fileBlob(path, fn)
  await uploads.add(blob)
  entries.push({ path, digest: blob.digest, kind: 'file' })
}

const absent =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code !== 'ENOENT') throw error
    throw new FaultError({ kind: 'absent', what: `${path}: there is no such file or directory` }, error)
  }

const listText = (entries: readonly Entry[]): string =>
  entries.map(({ digest, path }) => `${formatDigest(digest)} ${pathText(path)}\n`).join('')

const jsonText = (entries: readonly Entry[], { movedBlobs, movedBytes, heldBlobs, heldBytes }: TransferTally): string =>
  `${JSON.stringify({
    entries: entries.map(({ path, digest, kind }) => ({ path, kind, hash: digest.hash, size: digest.size })),
    uploaded: { blobs: movedBlobs, bytes: movedBytes },
    held: { blobs: heldBlobs, bytes: heldBytes },
  })}\n`

const summary = ({ movedBlobs, movedBytes, heldBlobs, heldBytes }: TransferTally): string =>
  `sent ${countText(movedBlobs)} blobs (${bytesText(movedBytes)}); ` +
  `the server had ${countText(heldBlobs)} (${bytesText(heldBytes)}) already\n`
