import { hash } from 'node:crypto'
import type { Hasher } from './hasher.ts'
import { joinHashes } from './sha256-tree-node.ts'

/**
 * SHA256TREE, as the Remote Execution API defines it: leaves of 1024 bytes hashed by plain SHA-256, and above them a
 * binary tree whose left branches are full. So the tree can grow from the left like a binary counter: a stack holds the
 * roots of full trees, each smaller than the one below it; a new leaf is joined with every tree of its own size. At
 * the end what is left is joined from the top down. A blob of one leaf has its leaf's hash, which is its SHA-256.
 */
const LEAF_BYTES = 1024
const HASH_WORDS = 8
/** One tree of each size up to 2^53 bytes, and the new leaf. */
const STACK_HASHES = 45

class Sha256Tree implements Hasher {
  readonly #stack = new Int32Array(STACK_HASHES * HASH_WORDS)
  #height = 0
  #leaves = 0
  readonly #partial = new Uint8Array(LEAF_BYTES)
  #partialBytes = 0

  update(bytes: Uint8Array): void {
    let from = 0
    if (this.#partialBytes > 0) {
      from = Math.min(LEAF_BYTES - this.#partialBytes, bytes.length)
      this.#partial.set(bytes.subarray(0, from), this.#partialBytes)
      this.#partialBytes += from
      if (this.#partialBytes < LEAF_BYTES) return
      this.#addLeaf(this.#partial)
    }
    for (; from + LEAF_BYTES <= bytes.length; from += LEAF_BYTES) this.#addLeaf(bytes.subarray(from, from + LEAF_BYTES))
    this.#partial.set(bytes.subarray(from))
    this.#partialBytes = bytes.length - from
  }

  digest(): Uint8Array {
    if (this.#partialBytes > 0 || this.#leaves === 0) this.#addLeaf(this.#partial.subarray(0, this.#partialBytes))
    while (this.#height > 1) this.#join()
    const raw = Buffer.alloc(HASH_WORDS * 4)
    for (let i = 0; i < HASH_WORDS; i += 1) raw.writeInt32BE(this.#stack[i] as number, i * 4)
    this.#height = 0
    this.#leaves = 0
    this.#partialBytes = 0
    return raw
  }

  #addLeaf(leaf: Uint8Array): void {
    const answer = hash('sha256', leaf, 'binary') // a Buffer would take half as long again
    let word = this.#height * HASH_WORDS
    for (let i = 0; i < answer.length; i += 4, word += 1) {
      const high = (answer.charCodeAt(i) << 24) | (answer.charCodeAt(i + 1) << 16)
      this.#stack[word] = high | (answer.charCodeAt(i + 2) << 8) | answer.charCodeAt(i + 3)
    }
    this.#height += 1
    this.#leaves += 1
    for (let trees = this.#leaves; trees % 2 === 0; trees /= 2) this.#join()
  }

  #join(): void {
    this.#height -= 1
    joinHashes(this.#stack, (this.#height - 1) * HASH_WORDS)
  }
}

export const sha256TreeHasher = (): Hasher => new Sha256Tree()
