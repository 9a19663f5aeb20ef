import { DIGEST_FUNCTIONS, type Digest, type DigestFunction, type DigestList } from '../../base/digest.ts'
import { DigestListBuilder } from '../../base/digest-list.ts'
import { checkedDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import { digestFunctionOf, functionByLength } from '../digests/digest-function.ts'
import type { MessageReader } from '../messages/message-reader.ts'

/**
 * Digests straight from a message into flat arrays.
 *
 * A Digest message is first *merged* into a pending one (its size, and where its hash is), because a singular field
 * may come twice and then its parts add up. Only when it is added to a list are the hex digits looked at, once. All
 * hashes of a list are as long as its first; which function that means can often be told only when the whole message
 * has been read, so `finish` settles it.
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
        // The one before no longer counts and is never looked at as a hash, but text it must have been.
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

  /** Nothing was set: to protobuf that is the same as no digest at all. */
  get empty(): boolean {
    return this.hashLength === 0 && this.size === 0
  }

  /** Where a single digest is wanted, such as the one of an action. `number` and `unnamed` as for a list. */
  digest({ bytes }: MessageReader, number: number, unnamed: DigestFunction): Digest {
    if (this.hashLength === 0) throw withoutHash()
    const fn = digestFunctionOf(number, this.hashLength, unnamed)
    const hash = Buffer.from(bytes.buffer, bytes.byteOffset + this.hashAt, this.hashLength).toString('latin1')
    return checkedDigest(fn, hash, this.size)
  }
}

/** Gathers the digests of one message, or of many that follow each other. */
export class DigestListReader {
  private builder: DigestListBuilder | undefined
  private hexLength = 0

  /** For hashes of one function; without, the first digest says how long they are. */
  constructor(fn?: DigestFunction) {
    if (fn !== undefined) this.hexLength = DIGEST_FUNCTIONS[fn].hashBytes * 2
  }

  get count(): number {
    return this.builder?.count ?? 0
  }

  /** `reader` is where the digest stands; what is left of its message bounds how many more can come. */
  add({ size, hashAt, hashLength }: PendingDigest, reader: MessageReader): void {
    if (hashLength !== this.hexLength || hashLength === 0) this.take(hashLength)
    this.builder ??= this.started(reader)
    if (!this.builder.addAscii(reader.bytes, hashAt, size)) throw invalid('a hash is not lower-case hex')
  }

  /** `number` as the request names the function, 0 when it does not; `unnamed` as its instance takes that. */
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
    if (this.hexLength !== 0) throw invalid(`a hash has ${hashLength} digits among others of ${this.hexLength}`)
    functionByLength(hashLength, 'sha256')
    this.hexLength = hashLength
  }

  /** Each further digest takes its digits and at least four bytes around them. */
  private started(reader: MessageReader): DigestListBuilder {
    const mayFollow = Math.floor((reader.bytes.length - reader.at) / (this.hexLength + 4))
    return new DigestListBuilder(functionByLength(this.hexLength, 'sha256'), 1 + mayFollow)
  }
}

const EMPTY: Partial<Record<DigestFunction, DigestList>> = {}

/** Most results have neither trees nor directories, and typed arrays are dear to make. */
function emptyList(fn: DigestFunction): DigestList {
  EMPTY[fn] ??= new DigestListBuilder(fn, 0).build()
  return EMPTY[fn]
}

const withoutHash = () => invalid('a digest has no hash')
