import { HpackDecoder } from '../hpack/decoder.ts'
import type { HeaderList } from '../hpack/header-field.ts'
import { HpackError } from '../hpack/hpack-error.ts'
import type { Http2Limits } from './limits.ts'
import { ConnectionFault, ERROR, FLAG, MAX_WINDOW, readUint32 } from './wire-format.ts'

/**
 * Joins header blocks from HEADERS and CONTINUATION, and decodes each of them: a skipped block would corrupt the table.
 */
export class HeaderBlocks {
  readonly #limits: Http2Limits
  readonly #decoder: HpackDecoder
  #gathered: Buffer[] = []
  #gatheredBytes = 0
  /** The stream whose block is incomplete; 0 when there is none. */
  openStream = 0
  /** The flags of the HEADERS frame that began the current block. */
  headersFlags = 0
  /** Whether the HEADERS frame named its own stream as its parent (RFC 7540, section 5.3.1). */
  dependsOnItself = false

  constructor(limits: Http2Limits) {
    this.#limits = limits
    this.#decoder = new HpackDecoder({ maxTableBytes: 4096, maxListBytes: limits.maxHeaderBytes })
  }

  /** Handles a HEADERS frame. Returns the list when its block is complete. */
  begin(flags: number, stream: number, buffer: Buffer, start: number, end: number): HeaderList | undefined {
    if (stream === 0) throw new ConnectionFault(ERROR.protocol, 'HEADERS needs a stream')
    this.dependsOnItself = false
    if ((flags & FLAG.padded) !== 0) {
      if (start === end) throw new ConnectionFault(ERROR.frameSize, 'padding without a length')
      end -= buffer[start] as number
      start++
    }
    if ((flags & FLAG.priority) !== 0) {
      if (end - start < 5) throw new ConnectionFault(ERROR.frameSize, 'HEADERS is too short for its priority')
      this.dependsOnItself = (readUint32(buffer, start) & MAX_WINDOW) === stream
      start += 5
    }
    if (end < start) throw new ConnectionFault(ERROR.protocol, 'padding exceeds its frame')
    if ((flags & FLAG.endHeaders) !== 0) return this.#decode(buffer, start, end)
    this.openStream = stream
    this.headersFlags = flags
    this.#gathered = [Buffer.from(buffer.subarray(start, end))]
    this.#gatheredBytes = end - start
    return undefined
  }

  /** Handles a CONTINUATION frame. Returns the list when its block is complete. */
  goOn(flags: number, stream: number, buffer: Buffer, start: number, end: number): HeaderList | undefined {
    if (this.openStream === 0 || stream !== this.openStream) {
      throw new ConnectionFault(ERROR.protocol, 'CONTINUATION does not continue anything')
    }
    this.#gatheredBytes += end - start
    this.#gathered.push(Buffer.from(buffer.subarray(start, end)))
    const isTooLong = this.#gatheredBytes > this.#limits.maxHeaderBytes
    if (isTooLong || this.#gathered.length > this.#limits.maxContinuationFrames) {
      throw new ConnectionFault(ERROR.enhanceYourCalm, 'a header block without end', 'continuations')
    }
    if ((flags & FLAG.endHeaders) === 0) return undefined
    const block = Buffer.concat(this.#gathered)
    this.#gathered = []
    this.openStream = 0
    return this.#decode(block, 0, block.length)
  }

  #decode(block: Buffer, start: number, end: number): HeaderList {
    try {
      return this.#decoder.decode(block, start, end)
    } catch (error) {
      if (error instanceof HpackError) throw new ConnectionFault(ERROR.compression, error.message)
      throw error
    }
  }
}
