/**
 * Reads of all sockets into one buffer.
 *
 * Node gives every read of a socket 64 KiB of fresh memory. Under bulk uploads that makes it collect garbage some
 * seventy times for each gigabyte, which costs more than receiving, hashing and storing them together. Here all sockets
 * of the process read into the same buffer, and whoever listens must be done with the bytes when it returns.
 *
 * For sockets that it opens itself Node has an option for this (`onread`); for those that a server accepts it has not,
 * so the accepted handle is put into a socket that was made with the option. Where that does not work (another version
 * of Node, TLS) bytes come as events, as everywhere.
 */
import { Socket, type SocketConstructorOpts } from 'node:net'
import type { Duplex } from 'node:stream'

/** As much as the kernel has ready, as a rule. */
const BUFFER_BYTES = 256 * 1024

interface Reader {
  read(bytes: Buffer): void
}

const readers = new WeakMap<Duplex, Reader>()
let shared: Buffer | undefined

/** Node's own servers do this with an accepted handle; it is not documented, so every property is checked first. */
interface Accepted {
  _handle?: { useUserBuffer?: unknown; reading?: boolean } | null
}

/** The same connection in a socket that reads into the shared buffer; the accepted one must not be used any more. */
export function readingShared(accepted: Socket): Socket {
  const handle = (accepted as Accepted)._handle
  if (typeof handle?.useUserBuffer !== 'function' || handle.reading === true) return accepted
  shared ??= Buffer.allocUnsafeSlow(BUFFER_BYTES)
  const reader: Reader = { read() {} }
  const onread = {
    buffer: shared,
    callback(bytes: number, buffer: Uint8Array) {
      reader.read(bytes === buffer.length ? (buffer as Buffer) : (buffer.subarray(0, bytes) as Buffer))
      return true
    },
  }
  ;(accepted as Accepted)._handle = null
  const options = { handle, onread, readable: true, writable: true }
  const socket = new Socket(options as unknown as SocketConstructorOpts)
  accepted.destroy()
  readers.set(socket, reader)
  return socket
}

/** Calls back with received bytes. They are valid until `read` returns. */
export function onBytes(socket: Duplex, read: (bytes: Buffer) => void): void {
  const reader = readers.get(socket)
  if (reader === undefined) socket.on('data', read)
  else reader.read = read
}
