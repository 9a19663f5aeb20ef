import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from '../../base/digest.ts'
import { type FaultError, invalid } from '../../base/fault.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { mustHaveShape } from '../messages/well-formed.ts'
import { PendingDigest } from './digest-reader.ts'
import { ACTION_RESULT } from './result-shape.ts'

/**
 * Checks whether clients can use the outputs that an ActionResult names. Clients create files under these paths: Bazel
 * 4.2.3 crashes on an absolute path or on a duplicate path, and follows `..` out of its output directory. So each path
 * must be relative and unique, must not contain NUL, and must not lie below an output that is a file or a symlink (a
 * client would write through the symlink). REAPI allows the empty path, which is the working directory, for an output
 * directory only.
 *
 * `checkOutputs` reads the message once and throws `invalid`. It hashes nothing and reads no blob. Its return value
 * lists the contents that still need either: see storage/verification/result-check.ts. `checkReported` also validates
 * all other fields, so that the server can send the worker's bytes to a client without decoding them.
 */
export interface CheckedOutputs {
  /** How many levels the paths lead above the working directory: 0 unless a path contains `..`. */
  readonly climbs: number
  /** Inline contents that also have a digest. */
  readonly inlined: readonly Inlined[]
  readonly directories: readonly NamedDirectory[]
}

/** A result that a worker reported. */
export interface ReportedOutputs extends CheckedOutputs {
  readonly exitCode: number
  /** The blobs that the result itself refers to; output directories refer to more. */
  readonly named: readonly Digest[]
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

export function checkReported(bytes: Uint8Array, fn: DigestFunction): ReportedOutputs {
  mustHaveShape(bytes, ACTION_RESULT)
  const named: Digest[] = []
  const check = new OutputCheck(new MessageReader(bytes, 'ActionResult'), fn, named)
  check.run()
  const { climbs, inlined, directories, exitCode } = check
  return { climbs, inlined, directories, exitCode, named }
}

class OutputCheck implements CheckedOutputs {
  exitCode = 0
  climbs = 0
  inlined: Inlined[] | typeof NONE = NONE
  directories: NamedDirectory[] | typeof NONE = NONE
  /** The kind of output at each normalised path. */
  private readonly taken = new Map<string, number>()
  private readonly reader: MessageReader
  private readonly fn: DigestFunction
  private readonly named: Digest[] | undefined

  /** With `named`, each output must have a digest, which is added to it. */
  constructor(reader: MessageReader, fn: DigestFunction, named?: Digest[]) {
    this.reader = reader
    this.fn = fn
    this.named = named
  }

  run(): void {
    const { reader } = this
    const streams = { stdout: newStream(), stderr: newStream() }
    while (reader.next()) {
      const { field } = reader
      if (field === FILE) this.file()
      else if (field === DIRECTORY) this.directory()
      else if (field === 4) this.exitCode = reader.int32()
      else if (field === 5) streams.stdout.raw = reader.view()
      else if (field === 6) streams.stdout.digest.merge(reader)
      else if (field === 7) streams.stderr.raw = reader.view()
      else if (field === 8) streams.stderr.digest.merge(reader)
      else if (field === LEGACY_FILE_LINK || field === LEGACY_DIRECTORY_LINK || field === LINK) this.link(field)
      else reader.skip()
    }
    for (const [what, { raw, digest }] of Object.entries(streams)) {
      this.name(this.named && this.digestOf(digest))
      this.beside(what, raw, digest)
    }
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
    if (this.named !== undefined && digest.empty) throw invalid(`the output ${path} has no digest`)
    this.name(this.named && this.digestOf(digest))
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
    const found = { tree: this.digestOf(tree), root: this.digestOf(root), isSorted }
    if (this.named !== undefined && tree.empty && root.empty) throw invalid('an output directory has no digest')
    this.name(found.tree)
    this.name(found.root)
    ;(this.directories as NamedDirectory[]).push(found)
  }

  private name(digest: Digest | undefined): void {
    if (digest !== undefined) this.named?.push(digest)
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
    // Servers of REAPI 2.1 and later list a symlink in two fields, one for new clients and one for old clients.
    const isTwin = before !== undefined && (before === LINK ? isLegacy(kind) : kind === LINK && isLegacy(before))
    if (before !== undefined && !isTwin) throw bad(path, 'comes twice')
    if (before !== LINK) this.taken.set(plain, kind)
  }

  /** The path without dots and double slashes. */
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
/** Matches a path with an empty segment, `.` or `..`. */
const ODD = /(^|\/)\.{0,2}(\/|$)/

const isLegacy = (kind: number): boolean => kind === LEGACY_FILE_LINK || kind === LEGACY_DIRECTORY_LINK
const newStream = () => ({ raw: EMPTY, digest: new PendingDigest() })
const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
const bad = (path: string, problem: string): FaultError => invalid(`the output path ${quoted(path)} ${problem}`)

export const contradiction = ({ what, bytes, digest }: Inlined): FaultError =>
  invalid(`${what}: the ${bytes.length} inline bytes are not the blob ${digest.hash}/${digest.size}`)
