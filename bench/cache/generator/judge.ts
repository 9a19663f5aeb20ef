/**
 * Checks the answers. For each shape, the first answer in a window is kept and compared byte by byte after the window;
 * all others must have the same length. Answers that are short, or all different, are all kept.
 */
import type { Call } from './call.ts'
import type { Attention, Exchange } from './exchange.ts'

/** Longer answers are compared while warming up, and only counted afterwards. */
const MOST_KEPT_BYTES = 4 * 1024 * 1024

/** The lengths of correct answers, by server, plan and shape. */
const known = new Map<string, number>()

export class Judge {
  readonly #key: string
  readonly #verifyAll: boolean
  readonly #kept: Exchange[] = []
  readonly #sampled = new Set<string>()
  contentBytes = 0

  constructor(key: string, verifyAll: boolean) {
    this.#key = key
    this.#verifyAll = verifyAll
  }

  attention(call: Call): Attention {
    const { shape, payloadBytes, payloadHash, contentBytes } = call
    if (payloadHash !== undefined && contentBytes > MOST_KEPT_BYTES) return this.#verifyAll ? 'hash' : 'count'
    if (this.#verifyAll || (shape === undefined && payloadBytes === undefined)) return 'keep'
    if (contentBytes > MOST_KEPT_BYTES || this.#sampled.has(shape ?? '')) return 'count'
    this.#sampled.add(shape ?? '')
    return 'keep'
  }

  hear(exchange: Exchange): void {
    const { call, payloadBytes } = exchange
    this.contentBytes += call.contentBytes
    if (typeof call.payloadBytes === 'number' && payloadBytes !== call.payloadBytes) {
      throw new Error(`${call.path}: ${payloadBytes} bytes of data instead of ${call.payloadBytes}`)
    }
    if (exchange.attention === 'hash' && exchange.hash !== call.payloadHash) {
      throw new Error(`${call.path}: a stream has other bytes`)
    }
    if (exchange.attention === 'keep') this.#kept.push(exchange)
    if (call.shape === undefined) return
    const key = `${this.#key} ${call.shape}`
    const bytes = payloadBytes ?? exchange.bytes
    const length = known.get(key) ?? bytes
    known.set(key, length)
    if (bytes !== length) throw new Error(`${call.path}: an answer of ${bytes} bytes where others have ${length}`)
  }

  verify(): void {
    for (const { call, body } of this.#kept.splice(0)) call.verify(body)
  }
}
