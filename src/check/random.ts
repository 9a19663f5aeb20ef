import { createCipheriv, createHash } from 'node:crypto'

/** Random content that no server has seen, reproducible from a seed. */
export interface Random {
  bytes(length: number): Uint8Array
  /** Content that compresses well. */
  text(length: number): Uint8Array
  uuid(): string
  word(): string
}

/** A cipher's key stream: fast, and different for every purpose under the same seed. */
export function seededRandom(seed: string, purpose: string): Random {
  const key = createHash('sha256').update(`${seed}\0${purpose}`).digest()
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const bytes = (length: number): Uint8Array => cipher.update(Buffer.alloc(length))
  const hex = (length: number): string => Buffer.from(bytes(length)).toString('hex')
  return {
    bytes,
    text(length) {
      const words = Array.from({ length: 16 }, () => `${hex(8)} `)
      const picks = bytes(Math.ceil(length / 17))
      return Buffer.from(Array.from(picks, (pick) => words[pick % 16]).join('')).subarray(0, length)
    },
    uuid: () => hex(16).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5'),
    word: () => hex(6),
  }
}
