import { stat } from 'node:fs/promises'
import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import type { Digest } from '../../base/digest.ts'
import { formatDigest, parseDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import { type CasClient, casClient } from '../../client/cas/cas-client.ts'
import { blobPieces, downloadFile } from '../../client/cas/cas-read.ts'
import type { TransferMeter } from '../../client/cas/transfer-meter.ts'
import { downloadTree } from '../../client/trees/tree-download.ts'
import { statusLine, transferTally } from '../output/progress.ts'
import { toStandardOutput } from '../output/stdio.ts'
import { treeLimits } from '../output/text.ts'
import { withServer } from '../session/cas-session.ts'
import type { DigestOptions, LimitOptions } from '../session/grid-flags.ts'

export interface GetOptions extends DigestOptions, LimitOptions {
  readonly output?: string
  readonly dir?: true
  readonly tree?: true
  readonly unsafeLinks?: true
}

/** Up to this size the hash is verified before the first byte is written. */
const IN_MEMORY_BYTES = 4 * 1024 * 1024

export async function runGet(text: string, options: GetOptions, terminal: Terminal): Promise<void> {
  const digest = parseDigest(text, options.digestFunction)
  const { output, dir, tree, json } = options
  const isTree = tree === true
  const limits = treeLimits(options)
  if ((dir || isTree) && output === undefined) throw invalid('-o is required: name the directory to create')
  if (output === undefined && json) throw invalid('--json requires -o: without it the blob itself is printed')
  if (output !== undefined && !dir && !isTree) await mustNotBeDirectory(output)
  await withServer(options, terminal, async ({ rpcs, signal, newId }) => {
    const line = statusLine(terminal, systemClock)
    const meter = transferTally(line)
    const client = casClient({ rpcs, instance: options.instance, fn: digest.fn, newId, signal })
    try {
      if (output === undefined) return await print(client, digest, meter)
      const unsafeLinks = options.unsafeLinks === true
      const count =
        dir || isTree
          ? await downloadTree(client, { digest, isTree, path: output, unsafeLinks, limits, newId, meter })
          : await downloadFile(client, { digest, path: output, newId, meter })
      line.clear()
      const { movedBytes: bytes } = meter
      if (json) terminal.out(`${JSON.stringify({ path: output, digest: formatDigest(digest), bytes, ...count })}\n`)
    } finally {
      line.clear()
    }
  })
}

async function print(client: CasClient, digest: Digest, meter: TransferMeter): Promise<void> {
  meter.found(1, digest.size)
  const early: Uint8Array[] = []
  for await (const piece of blobPieces(client, digest, meter)) {
    if (digest.size <= IN_MEMORY_BYTES) early.push(Buffer.from(piece))
    else if (!(await toStandardOutput(piece))) return
  }
  if (early.length > 0) await toStandardOutput(Buffer.concat(early))
}

async function mustNotBeDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) throw invalid(`-o: ${path} is a directory (--dir fetches one)`)
}
