import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from '../../base/digest.ts'
import { type FaultError, invalid } from '../../base/fault.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { PendingDigest } from './digest-reader.ts'

/**
 * Whether clients can use the outputs that an ActionResult names. Clients create files under these paths: Bazel 4.2.3
 * crashes on an absolute path or a path that comes twice, and follows `..` out of its output directory. So each path is
 * relative, without NUL, comes once, and does not lie below an output that is a file or a symlink (a client would write
 * through the symlink). REAPI allows the empty path for an output directory only: it is the working directory.
 *
 * `checkOutputs` reads the message once and throws `invalid`; it hashes nothing and reads no blob. Content that needs
 * either is in its answer: see storage/result-check.ts.
 */
export interface CheckedOutputs {
  /** By how many directories the paths climb out of the working directory: 0 unless a path has `..` in it. */
  readonly climbs: number
  /** Content that stands beside its own digest. */
  readonly inlined: readonly Inlined[]
  readonly directories: readonly NamedDirectory[]
}

export interface Inlined {
  readonly what: string
  readonly bytes: Uint8Array
  readonly digest: Digest
}

export interface NamedDirectory {
  readonly tree: Digest | undefined
  readonly root: Digest | undefined
  /** The result states that parents come before their children in the tree. */
  readonly isSorted: boolean
}

const NONE: readonly never[] = []

export function checkOutputs(bytes: Uint8Array, fn: DigestFunction): CheckedOutputs {
  const check = new OutputCheck(new MessageReader(bytes, 'ActionResult'), fn)
  check.run()
  return check
}

class OutputCheck implements CheckedOutputs {
  climbs = 0
  inlined: Inlined[] | typeof NONE = NONE
  directories: NamedDirectory[] | typeof NONE = NONE
  /** Paths without dots, by what is there. */
  private readonly taken = new Map<string, number>()
  private readonly reader: MessageReader
  private readonly fn: DigestFunction

  constructor(reader: MessageReader, fn: DigestFunction) {
    this.reader = reader
    this.fn = fn
  }

  run(): void {
    const { reader } = this
    const streams = { stdout: newStream(), stderr: newStream() }
    while (reader.next()) {
      const { field } = reader
      if (field === FILE) this.file()
      else if (field === DIRECTORY) this.directory()
      else if (field === 5) streams.stdout.raw = reader.view()
      else if (field === 6) streams.stdout.digest.merge(reader)
      else if (field === 7) streams.stderr.raw = reader.view()
      else if (field === 8) streams.stderr.digest.merge(reader)
      else if (field === LEGACY_FILE_LINK || field === LEGACY_DIRECTORY_LINK || field === LINK) this.link(field)
      else reader.skip()
    }
    for (const [what, { raw, digest }] of Object.entries(streams)) this.beside(what, raw, digest)
    if (this.taken.size > 1) this.mustNotNest()
  }

  private file(): void {
    const { reader } = this
    const digest = new PendingDigest()
    let path = ''
    let contents = EMPTY
    const outer = reader.enter()
    while (reader.next()) {
      if (reader.field === 1) path = reader.text()
      else if (reader.field === 2) digest.merge(reader)
      else if (reader.field === 5) contents = reader.view()
      else reader.skip()
    }
    reader.leave(outer)
    this.take(path, FILE)
    if (contents.length > 0) this.beside(`the output ${quoted(path)}`, contents, digest)
  }

  private directory(): void {
    const { reader } = this
    const tree = new PendingDigest()
    const root = new PendingDigest()
    let path = ''
    let isSorted = false
    const outer = reader.enter()
    while (reader.next()) {
      if (reader.field === 1) path = reader.text()
      else if (reader.field === 3) tree.merge(reader)
      else if (reader.field === 4) isSorted = reader.bool()
      else if (reader.field === 5) root.merge(reader)
      else reader.skip()
    }
    reader.leave(outer)
    this.take(path, DIRECTORY)
    if (this.directories.length === 0) this.directories = []
    ;(this.directories as NamedDirectory[]).push({ tree: this.digestOf(tree), root: this.digestOf(root), isSorted })
  }

  private link(field: number): void {
    const { reader } = this
    let path = ''
    let target = ''
    const outer = reader.enter()
    while (reader.next()) {
      if (reader.field === 1) path = reader.text()
      else if (reader.field === 2) target = reader.text()
      else reader.skip()
    }
    reader.leave(outer)
    if (target === '' || target.includes('\0'))
      throw invalid(`the output symlink ${quoted(path)} has the target ${quoted(target)}`)
    this.take(path, field)
  }

  private take(path: string, kind: number): void {
    const plain = this.plainPath(path)
    if (plain === '' && kind !== DIRECTORY) throw bad(path, 'is empty')
    const before = this.taken.get(plain)
    // A server of REAPI 2.1 and later names a symlink for new and for old clients: once in each field.
    const isTwin = before !== undefined && (before === LINK ? isLegacy(kind) : kind === LINK && isLegacy(before))
    if (before !== undefined && !isTwin) throw bad(path, 'comes twice')
    if (before !== LINK) this.taken.set(plain, kind)
  }

  /** Without dots and double slashes, as a file system has it. */
  private plainPath(path: string): string {
    if (path.startsWith('/')) throw bad(path, 'is absolute')
    if (path.includes('\0')) throw bad(path, 'has a NUL in it')
    if (!ODD.test(path)) return path
    const parts: string[] = []
    let climbs = 0
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue
      if (part !== '..') parts.push(part)
      else if (parts.length > 0) parts.pop()
      else climbs++
    }
    this.climbs = Math.max(this.climbs, climbs)
    return [...Array<string>(climbs).fill('..'), ...parts].join('/')
  }

  private mustNotNest(): void {
    for (const path of this.taken.keys()) {
      for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
        const kind = this.taken.get(path.slice(0, slash))
        if (kind !== undefined && kind !== DIRECTORY)
          throw bad(path, `lies below the output ${quoted(path.slice(0, slash))}, which is no directory`)
      }
    }
  }

  private beside(what: string, bytes: Uint8Array, pending: PendingDigest): void {
    const digest = bytes.length === 0 ? undefined : this.digestOf(pending)
    if (digest === undefined) return
    if (digest.size !== bytes.length) throw contradiction({ what, bytes, digest })
    if (this.inlined.length === 0) this.inlined = []
    ;(this.inlined as Inlined[]).push({ what, bytes, digest })
  }

  private digestOf(pending: PendingDigest): Digest | undefined {
    return pending.empty ? undefined : pending.digest(this.reader, DIGEST_FUNCTIONS[this.fn].number, this.fn)
  }
}

const FILE = 2
const DIRECTORY = 3
const LEGACY_FILE_LINK = 10
const LEGACY_DIRECTORY_LINK = 11
const LINK = 12
const EMPTY: Uint8Array = new Uint8Array()
/** Has a part that is empty or consists of dots. */
const ODD = /(^|\/)\.{0,2}(\/|$)/

const isLegacy = (kind: number): boolean => kind === LEGACY_FILE_LINK || kind === LEGACY_DIRECTORY_LINK
const newStream = () => ({ raw: EMPTY, digest: new PendingDigest() })
const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
const bad = (path: string, problem: string): FaultError => invalid(`the output path ${quoted(path)} ${problem}`)

export const contradiction = ({ what, bytes, digest }: Inlined): FaultError =>
  invalid(`${what}: the ${bytes.length} inline bytes are not the blob ${digest.hash}/${digest.size}`)
