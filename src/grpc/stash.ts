import { lend, takeBack } from './lent-buffers.ts'

/**
 * A queue of received bytes. They are valid only during the call, so they are copied. Small pieces are copied together,
 * because a view of a few bytes costs about 100. A block is at most twice as large as the piece that it was made for.
 */
const LEAST_BLOCK_BYTES = 4 * 1024
const MOST_BLOCK_BYTES = 16 * 1024

interface Block {
  readonly memory: Buffer
  filled: number
}

export class Stash {
  #blocks: Block[] = []
  #head = 0
  #at = 0

  get isEmpty(): boolean {
    return this.#head === this.#blocks.length
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const block = this.#blockFor(bytes.length - at)
      const size = Math.min(bytes.length - at, block.memory.length - block.filled)
      block.memory.set(size === bytes.length ? bytes : bytes.subarray(at, at + size), block.filled)
      block.filled += size
      at += size
    }
  }

  /**
   * Calls `read` with the first piece and the position where it stopped. `read` returns its new position, and keeps no
   * bytes.
   */
  read(read: (bytes: Uint8Array, at: number) => number): void {
    const block = this.#blocks[this.#head] as Block
    this.#at = read(block.memory.subarray(0, block.filled), this.#at)
    if (this.#at < block.filled) return
    this.#at = 0
    this.#head++
    giveBack(block)
    if (this.isEmpty) this.#forget()
  }

  clear(): void {
    for (let i = this.#head; i < this.#blocks.length; i++) giveBack(this.#blocks[i] as Block)
    this.#forget()
  }

  #forget(): void {
    this.#blocks = []
    this.#head = 0
    this.#at = 0
  }

  #blockFor(bytes: number): Block {
    const last = this.isEmpty ? undefined : this.#blocks.at(-1)
    if (last !== undefined && last.filled < last.memory.length) return last
    const block = { memory: blockOf(Math.min(bytes, MOST_BLOCK_BYTES)), filled: 0 }
    this.#blocks.push(block)
    return block
  }
}

/** Blocks of the largest size, which is a frame, are reused. */
const blockOf = (bytes: number): Buffer =>
  bytes * 2 > MOST_BLOCK_BYTES ? lend(MOST_BLOCK_BYTES) : Buffer.allocUnsafeSlow(Math.max(LEAST_BLOCK_BYTES, bytes))

function giveBack({ memory }: Block): void {
  if (memory.length === MOST_BLOCK_BYTES) takeBack(memory)
}
