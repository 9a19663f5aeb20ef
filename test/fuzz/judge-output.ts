import { HpackDecoder } from '../../src/grpc/hpack/decoder.ts'
import { DEFAULT_WINDOW, FLAG, FRAME_TYPE, PREFACE, readUint32 } from '../../src/grpc/http2/wire-format.ts'
import { cutFrames, describeFrame, type Frame } from '../../src/testing/http2-frames.ts'

/**
 * Whatever the peer sends, our output must be valid: whole frames, header blocks that decode in sequence, nothing on a
 * stream after its end, headers before data, and never more data than the peer's connection window allowed.
 */
export function judgeOutput(output: Buffer, input: Buffer, role: 'server' | 'client'): string[] {
  const ours = role === 'client' ? output.subarray(PREFACE.length) : output
  const theirs = role === 'client' ? input : input.subarray(PREFACE.length)
  const frames = cutFrames(ours)
  const problems: string[] = []
  let used = 0
  for (const { payload } of frames) used += 9 + payload.length
  if (used !== ours.length) problems.push(`the output ends inside a frame, ${ours.length - used} bytes are left over`)
  const judge = new Judge()
  for (const frame of frames) judge.see(frame, problems)
  const allowed = windowGiven(theirs)
  if (judge.dataBytes > allowed) problems.push(`sent ${judge.dataBytes} bytes of data where ${allowed} were allowed`)
  return problems
}

/** An upper bound: window updates after an error count too. */
function windowGiven(input: Buffer): number {
  let allowed = DEFAULT_WINDOW
  for (const { type, stream, payload } of cutFrames(input)) {
    if (type === FRAME_TYPE.windowUpdate && stream === 0 && payload.length === 4)
      allowed += readUint32(payload, 0) & 0x7fffffff
  }
  return allowed
}

class Judge {
  readonly #decoder = new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 1 << 20 })
  readonly #states = new Map<number, 'head sent' | 'ended' | 'reset'>()
  #gathered: Buffer[] = []
  #openStream = 0
  #end = false
  dataBytes = 0

  see(frame: Frame, problems: string[]): void {
    const problem = this.#problemWith(frame)
    if (problem !== undefined) problems.push(`${describeFrame(frame)}: ${problem}`)
  }

  #problemWith({ type, flags, stream, payload }: Frame): string | undefined {
    if (this.#openStream !== 0 && (type !== FRAME_TYPE.continuation || stream !== this.#openStream)) {
      return 'a header block of ours is interrupted'
    }
    if (type === FRAME_TYPE.headers || type === FRAME_TYPE.continuation) return this.#block(flags, stream, payload)
    const state = this.#states.get(stream)
    if (type === FRAME_TYPE.data) {
      this.dataBytes += payload.length
      if (state !== 'head sent') return state === undefined ? 'data before a head' : `data after it was ${state}`
      if ((flags & FLAG.endStream) !== 0) this.#states.set(stream, 'ended')
    }
    // Two resets are allowed: each late frame on a closed stream may cause one.
    if (type === FRAME_TYPE.rstStream) this.#states.set(stream, 'reset')
    if (type === FRAME_TYPE.windowUpdate && readUint32(payload, 0) === 0) return 'of nothing'
    return undefined
  }

  #block(flags: number, stream: number, payload: Buffer): string | undefined {
    this.#gathered.push(payload)
    if ((flags & FLAG.endStream) !== 0) this.#end = true
    this.#openStream = (flags & FLAG.endHeaders) === 0 ? stream : 0
    if (this.#openStream !== 0) return undefined
    const block = Buffer.concat(this.#gathered)
    const [isEnd, state] = [this.#end, this.#states.get(stream)]
    this.#gathered = []
    this.#end = false
    const problem = this.#judgeFields(block, state === undefined)
    if (state === 'ended' || state === 'reset') return `headers after it was ${state}`
    this.#states.set(stream, isEnd ? 'ended' : 'head sent')
    return state === 'head sent' && !isEnd ? 'a second head' : problem
  }

  #judgeFields(block: Buffer, isHead: boolean): string | undefined {
    try {
      const { fields } = this.#decoder.decode(block, 0, block.length)
      const isPseudo = fields[0]?.name.startsWith(':') ?? false
      if (isHead !== isPseudo) return isHead ? 'a head without pseudo-headers' : 'pseudo-headers in trailers'
      return undefined
    } catch (error) {
      return `does not decode: ${(error as Error).message}`
    }
  }
}
