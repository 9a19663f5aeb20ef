import type { Duplex } from 'node:stream'
import type { CarefulSocket } from './careful-socket.ts'

/**
 * Bounds the bytes of incomplete messages over all peers. Each message may be as long as the limit; many at once would
 * exceed the memory without one being complete.
 */
export class UnfinishedMessages {
  readonly #mostBytes: number
  readonly #bytes = new Map<CarefulSocket, number>()
  #sum = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Counts the raw bytes of the connection until they have become a message or the socket is closed. */
  watch(socket: CarefulSocket, stream: Duplex): void {
    this.#bytes.set(socket, 0)
    // Registered before the listener that assembles messages: complete messages are counted off at once.
    stream.prependListener('data', (piece: Buffer) => {
      const before = this.#bytes.get(socket)
      if (before === undefined) return
      this.#set(socket, before + piece.length)
      if (this.#sum > this.#mostBytes) this.#cutLongest()
    })
    socket.on('message', () => this.#set(socket, 0))
    socket.once('close', () => this.#forget(socket))
  }

  #set(socket: CarefulSocket, bytes: number): void {
    this.#sum += bytes - (this.#bytes.get(socket) ?? 0)
    this.#bytes.set(socket, bytes)
  }

  #forget(socket: CarefulSocket): void {
    this.#set(socket, 0)
    this.#bytes.delete(socket)
  }

  #cutLongest(): void {
    let [longest, most]: [CarefulSocket | undefined, number] = [undefined, -1]
    for (const [socket, bytes] of this.#bytes) if (bytes > most) [longest, most] = [socket, bytes]
    if (longest === undefined) return
    this.#forget(longest)
    longest.terminate()
  }
}
