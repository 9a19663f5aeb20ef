import { DIGEST_FUNCTIONS, type Digest, type DigestFunction, type DigestList } from '../../base/digest.ts'
import { DigestListBuilder } from '../../base/digest-list.ts'
import { checkedDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import { digestFunctionOf, functionByLength } from '../digests/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'

/**
 * Reads digests from a message into flat arrays, without an object per digest.
 *
 * A Digest message is first *merged* into a pending one (its size, and the offset of its hash), because protobuf merges
 * a singular field that occurs twice. The hex digits are parsed once, when the digest is added to a list. All hashes of
 * a list have the length of the first. The request may name the digest function after its digests, so `finish`
 * determines the function when the whole message has been read.
 */
export class PendingDigest {
  size = 0
  hashAt = 0
  hashLength = 0

  clear(): this {
    this.size = 0
    this.hashLength = 0
    return this
  }

  /** Reads the Digest message that is the current field of `reader`. */
  merge(reader: MessageReader): this {
    const outer = reader.enter()
    while (reader.next()) {
      if (reader.field === 1) {
        // The earlier hash is overwritten and never parsed as hex, but it must be valid UTF-8.
        if (this.hashLength > 0) reader.mustBeText(this.hashAt, this.hashLength)
        this.hashLength = reader.delimited()
        this.hashAt = reader.at
        reader.at += this.hashLength
      } else if (reader.field === 2) this.size = reader.count('the size of a digest')
      else reader.skip()
    }
    reader.leave(outer)
    return this
  }

  /** No field was set, which in protobuf equals a digest that is not set. */
  get empty(): boolean {
    return this.hashLength === 0 && this.size === 0
  }

  /** A single digest, such as that of an action. `number` and `unnamed` as in `finish`. */
  digest({ bytes }: MessageReader, number: number, unnamed: DigestFunction): Digest {
    if (this.hashLength === 0) throw withoutHash()
    const fn = digestFunctionOf(number, this.hashLength, unnamed)
    const hash = Buffer.from(bytes.buffer, bytes.byteOffset + this.hashAt, this.hashLength).toString('latin1')
    return checkedDigest(fn, hash, this.size)
  }
}

/** Collects the digests of one message, or of several. */
export class DigestListReader {
  private builder: DigestListBuilder | undefined
  private hexLength = 0

  /** With a function, all hashes must have its length; without one, the length of the first hash. */
  constructor(fn?: DigestFunction) {
    if (fn !== undefined) this.hexLength = DIGEST_FUNCTIONS[fn].hashBytes * 2
  }

  get count(): number {
    return this.builder?.count ?? 0
  }

  /** `reader` has just read the digest; the rest of its message bounds how many digests can follow. */
  add({ size, hashAt, hashLength }: PendingDigest, reader: MessageReader): void {
    if (hashLength !== this.hexLength || hashLength === 0) this.take(hashLength)
    this.builder ??= this.started(reader)
    if (!this.builder.addAscii(reader.bytes, hashAt, size)) throw invalid('a hash is not lower-case hex')
  }

  /** `number` is the digest function of the request, 0 when it names none; `unnamed` is the function used then. */
  finish(number: number, unnamed: DigestFunction): DigestList {
    const fn = digestFunctionOf(number, this.hexLength, unnamed)
    const list = this.builder?.build() ?? emptyList(fn)
    return list.fn === fn ? list : { ...list, fn }
  }

  /** Returns the digests as a list of the function that was passed to the constructor. */
  list(fn: DigestFunction): DigestList {
    return this.finish(DIGEST_FUNCTIONS[fn].number, fn)
  }

  private take(hashLength: number): void {
    if (hashLength === 0) throw withoutHash()
    if (this.hexLength !== 0) throw invalid(`a hash has ${hashLength} digits, but the others have ${this.hexLength}`)
    functionByLength(hashLength, 'sha256')
    this.hexLength = hashLength
  }

  /** Each further digest takes its hex digits and at least four bytes for tags and lengths. */
  private started(reader: MessageReader): DigestListBuilder {
    const mayFollow = Math.floor((reader.bytes.length - reader.at) / (this.hexLength + 4))
    return new DigestListBuilder(functionByLength(this.hexLength, 'sha256'), 1 + mayFollow)
  }
}

const EMPTY: Partial<Record<DigestFunction, DigestList>> = {}

/** Shared: most results have neither trees nor directories, and creating typed arrays is expensive. */
function emptyList(fn: DigestFunction): DigestList {
  EMPTY[fn] ??= new DigestListBuilder(fn, 0).build()
  return EMPTY[fn]
}

const withoutHash = () => invalid('a digest has no hash')

/** Bytes of a Tree that are read per turn of the event loop: about 3 ms of work. */
const SLICE_BYTES = 1024 * 1024

/**
 * The digests that any number of Directory and Tree messages refer to. Only the digests are read, all other fields are
 * skipped. The messages are blobs that any client may have uploaded, so they are validated as strictly as a request.
 */
export class References {
  private readonly files: DigestListReader
  private readonly directories: DigestListReader
  private readonly pending = new PendingDigest()
  private readonly fn: DigestFunction

  /** REAPI: all digests of a tree have the digest function of the action. */
  constructor(fn: DigestFunction) {
    this.fn = fn
    this.files = new DigestListReader(fn)
    this.directories = new DigestListReader(fn)
  }

  addDirectory(bytes: Uint8Array): void {
    this.readDirectory(new MessageReader(bytes, 'Directory'))
  }

  /**
   * Adds the files of all directories in a Tree message; the directories themselves need not be blobs. Yields after
   * each slice, so that a Tree of 64 MiB does not block other calls.
   */
  *addTree(bytes: Uint8Array): Generator<void, void> {
    const reader = new MessageReader(bytes, 'Tree')
    let slicedAt = 0
    while (reader.next()) {
      if (reader.field !== 1 && reader.field !== 2) reader.skip()
      else {
        const outer = reader.enter()
        this.readDirectory(reader)
        reader.leave(outer)
      }
      if (reader.at - slicedAt < SLICE_BYTES) continue
      slicedAt = reader.at
      yield
    }
  }

  /** Returns the digests in the order of the messages, with duplicates. */
  fileDigests(): DigestList {
    return this.files.list(this.fn)
  }

  directoryDigests(): DigestList {
    return this.directories.list(this.fn)
  }

  private readDirectory(reader: MessageReader): void {
    while (reader.next()) {
      if (reader.field === 1) this.readNode(reader, this.files)
      else if (reader.field === 2) this.readNode(reader, this.directories)
      else reader.skip()
    }
  }

  /** FileNode and DirectoryNode both have their digest in field 2. */
  private readNode(reader: MessageReader, into: DigestListReader): void {
    this.pending.clear()
    const outer = reader.enter()
    while (reader.next()) {
      if (reader.field === 2) this.pending.merge(reader)
      else reader.skip()
    }
    into.add(this.pending, reader)
    reader.leave(outer)
  }
}

export function directoryReferences(bytes: Uint8Array, fn: DigestFunction): References {
  const references = new References(fn)
  references.addDirectory(bytes)
  return references
}

export function treeReferences(bytes: Uint8Array, fn: DigestFunction): References {
  const references = new References(fn)
  for (const _ of references.addTree(bytes));
  return references
}
