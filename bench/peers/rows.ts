/** The rows, each a separate command: the load, the unit, and the programs that are compared. */
import { MiB } from '../cache/content.ts'
import { BATCH_BLOBS, MEDIUM_BYTES, type Plan } from '../cache/plan.ts'

export const PEER_PROGRAMS = {
  'bazel-remote': 'github.com/buchgr/bazel-remote',
  bb_storage: 'github.com/buildbarn/bb-storage',
  bb_scheduler: 'github.com/buildbarn/bb-remote-execution',
  bb_worker: 'github.com/buildbarn/bb-remote-execution',
  bb_runner: 'github.com/buildbarn/bb-remote-execution',
  'go-judge': 'github.com/criyle/go-judge',
  'buildbox-casd': 'gitlab.com/BuildGrid/buildbox',
  cwltool: 'github.com/common-workflow-language/cwltool',
} as const

interface RowBase {
  readonly name: string
  readonly about: string
  /** The unit by which the CPU time is divided. */
  readonly unit: string
  /** Units in progress at a time, one measurement for each. */
  readonly open: readonly number[]
  /** Units in one window; the same for all contestants. */
  readonly count: number
}

export interface CacheRow extends RowBase {
  readonly kind: 'cache'
  readonly plan: Plan
  /** The plan that uploads the blobs that `plan` reads. */
  readonly stored?: 'write' | 'write-zstd' | 'batch-update'
}

export interface GridRow extends RowBase {
  readonly kind: 'grid'
  /** The backend of our worker; the peers start commands without a sandbox. */
  readonly backend: 'sandbox' | 'host'
}

export interface SnippetRow extends RowBase {
  readonly kind: 'snippets'
}

export interface WorkflowRow extends RowBase {
  readonly kind: 'workflow'
  /** The name of a workload of `npm run bench workflows`. */
  readonly workload: string
}

export type PeerRow = CacheRow | GridRow | SnippetRow | WorkflowRow

const LARGE_BYTES = 256 * MiB
const MEDIUM = { kind: 'cache', unit: 'blob', open: [1, 8, 64] } as const

export const PEER_ROWS: readonly PeerRow[] = [
  {
    ...MEDIUM,
    name: 'read-zstd',
    about: 'ByteStream.Read of 1 MiB as zstd, uploaded uncompressed',
    plan: { kind: 'read-zstd', size: MEDIUM_BYTES },
    stored: 'write',
    count: 512,
  },
  {
    ...MEDIUM,
    name: 'read',
    about: 'ByteStream.Read of 1 MiB',
    plan: { kind: 'read', size: MEDIUM_BYTES },
    stored: 'write',
    count: 512,
  },
  {
    ...MEDIUM,
    name: 'write-zstd',
    about: 'ByteStream.Write of 1 MiB as zstd',
    plan: { kind: 'write-zstd', size: MEDIUM_BYTES },
    count: 128,
  },
  {
    ...MEDIUM,
    name: 'write',
    about: 'ByteStream.Write of 1 MiB',
    plan: { kind: 'write', size: MEDIUM_BYTES },
    count: 128,
  },
  {
    ...MEDIUM,
    name: 'write-large',
    about: 'ByteStream.Write of 256 MiB',
    plan: { kind: 'write', size: LARGE_BYTES },
    open: [1],
    count: 2,
  },
  {
    ...MEDIUM,
    name: 'batch-update',
    about: `BatchUpdateBlobs of ${BATCH_BLOBS} × 4 KiB`,
    plan: { kind: 'batch-update' },
    unit: 'call',
    count: 192,
  },
  {
    ...MEDIUM,
    name: 'batch-read',
    about: `BatchReadBlobs of ${BATCH_BLOBS} × 4 KiB`,
    plan: { kind: 'batch-read' },
    stored: 'batch-update',
    unit: 'call',
    count: 512,
  },
  {
    ...MEDIUM,
    name: 'find-missing',
    about: 'FindMissingBlobs of 100 digests, half of them missing',
    plan: { kind: 'find-missing', digests: 100 },
    stored: 'batch-update',
    unit: 'call',
    count: 4000,
  },
  {
    kind: 'grid',
    name: 'noop-sandbox',
    about: 'Execute of /bin/true, each in a sandbox of ours; the peers have none',
    unit: 'action',
    open: [1, 8],
    count: 300,
    backend: 'sandbox',
  },
  {
    kind: 'grid',
    name: 'noop-host',
    about: 'Execute of /bin/true as a plain process',
    unit: 'action',
    open: [1, 8],
    count: 300,
    backend: 'host',
  },
  {
    kind: 'snippets',
    name: 'snippets',
    about: 'a Python program of one line over HTTP, beside go-judge',
    unit: 'run',
    open: [1, 8],
    count: 200,
  },
  {
    kind: 'workflow',
    name: 'workflow',
    about: 'a CWL scatter over 100 steps without a server, beside cwltool',
    unit: 'run',
    open: [1],
    count: 1,
    workload: 'a scatter of 100 echo',
  },
]

/** Returns the rows with these names; throws on a word that is neither a row nor `all`. */
export function rowsNamed(words: readonly string[]): readonly PeerRow[] {
  if (words.includes('all')) return PEER_ROWS
  return words.map((word) => {
    const row = PEER_ROWS.find(({ name }) => name === word)
    if (row === undefined) throw new Error(`no row is named ${word}; without a name, all rows are listed`)
    return row
  })
}

/** The text that is printed when no row is named. */
export const listOfRows = (): string =>
  [...PEER_ROWS.map(({ name, about }) => `${name}\t${about}`), 'all\tevery row, one after another'].join('\n')
