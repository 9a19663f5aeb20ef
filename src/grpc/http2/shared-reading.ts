/**
 * Reads all sockets into one buffer.
 *
 * Node allocates 64 KiB for every read of a socket. Bulk uploads then cause about 70 garbage collections per gigabyte,
 * which cost more CPU than receiving, hashing and storing the data together. Here all sockets of the process read into
 * the same buffer: a listener must have consumed the bytes when it returns.
 *
 * For sockets that it opens itself Node has an option for this (`onread`), but not for sockets that a server accepts.
 * So the accepted handle is put into a socket that was made with the option. If that does not work (another version of
 * Node, TLS), bytes arrive as events.
 */
import { Socket, type SocketConstructorOpts } from 'node:net'
import type { Duplex } from 'node:stream'

/** Usually as much as the kernel has ready. */
const BUFFER_BYTES = 256 * 1024

interface Reader {
  read(bytes: Buffer): void
}

const readers = new WeakMap<Duplex, Reader>()
let shared: Buffer | undefined

/** Node's own servers handle an accepted handle this way. It is not documented, so every property is checked first. */
interface Accepted {
  _handle?: { useUserBuffer?: unknown; reading?: boolean } | null
}

/**
 * Returns the same connection in a socket that reads into the shared buffer. The accepted socket must not be used any
 * more.
 */
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

/** Calls `read` with received bytes. They are valid until `read` returns. */
export function onBytes(socket: Duplex, read: (bytes: Buffer) => void): void {
  const reader = readers.get(socket)
  if (reader === undefined) socket.on('data', read)
  else reader.read = read
}
