import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorBody, type HttpError, statusOf } from './http-error.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

const BY_CODE: Readonly<Record<string, HttpError>> = {
  HPE_HEADER_OVERFLOW: { kind: 'invalid', status: 431, message: 'The headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { kind: 'invalid', status: 413, message: 'The chunk extensions are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { kind: 'invalid', status: 408, message: 'The request took too long to arrive' },
}

/** Responds to bytes that are not HTTP or arrive too slowly. There is no request yet, only the socket. */
export function answerUnreadable(code: string | undefined, socket: Duplex): void {
  const error = BY_CODE[code ?? ''] ?? { kind: 'invalid', message: 'The request is not HTTP/1.1' }
  const body = JSON.stringify(errorBody(error))
  const headers = { ...SECURITY_HEADERS, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const status = statusOf(error)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}
