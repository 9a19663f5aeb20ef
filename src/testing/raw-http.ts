import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`, as a server reports it. */
export async function openRaw(address: string): Promise<Socket> {
  const colon = address.lastIndexOf(':')
  const target = address.startsWith('unix:')
    ? { path: address.slice(5) }
    : { host: address.slice(0, colon).replace(/[[\]]/g, ''), port: Number(address.slice(colon + 1)) }
  const socket = connect(target)
  socket.on('error', () => {}) // many tests provoke a closed connection
  await once(socket, 'connect')
  return socket
}

/** Sends bytes that no client library would, and reads the response until the server closes. */
export async function askRaw(address: string, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const socket = await openRaw(address)
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return parseAnswer(await untilClosed(socket))
}

export async function untilClosed(socket: Socket): Promise<string> {
  const parts: Buffer[] = []
  socket.on('data', (part) => parts.push(part))
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(parts).toString('latin1')
}

export function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return { status: Number(first.split(' ')[1] ?? 0), headers, body: rest.join('\r\n\r\n') }
}
