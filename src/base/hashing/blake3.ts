import type { IHasher } from 'hash-wasm'
import type { Hasher } from './hasher.ts'

/**
 * BLAKE3 is not in Node, so it runs in WebAssembly, which starts asynchronously. One instance serves all hashers of a
 * thread: it holds the state of the one that was used last, and changing over costs about 1 µs (a 2 KB state each way).
 */
let engine: IHasher | undefined
let inEngine: Blake3 | undefined

/** Once in each thread, before the first BLAKE3 hash. */
export async function prepareBlake3(): Promise<void> {
  if (engine !== undefined) return
  const { createBLAKE3 } = await import('hash-wasm')
  const made = await createBLAKE3()
  engine ??= made // the first of two that were prepared at once: a hasher may be in it already
}

class Blake3 implements Hasher {
  /** The state of this hash while another hasher uses the engine; undefined at the start of a blob. */
  #state: Uint8Array | undefined

  update(bytes: Uint8Array): void {
    this.#enter().update(bytes)
  }

  digest(): Uint8Array {
    const raw = this.#enter().digest('binary')
    inEngine = undefined
    this.#state = undefined
    return raw
  }

  #enter(): IHasher {
    if (engine === undefined) throw new Error('BLAKE3 is not ready: await prepareHashing() when the thread starts')
    if (inEngine === this) return engine
    if (inEngine !== undefined) inEngine.#state = engine.save()
    inEngine = this
    return this.#state === undefined ? engine.init() : engine.load(this.#state)
  }
}

export const blake3Hasher = (): Hasher => new Blake3()
