import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'

export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** The time limit for the whole response. */
  readonly withinMs?: number
}

export interface EngineAnswer {
  readonly status: number
  readonly text: string
}

/**
 * HTTP to a container engine over its Unix socket. Each request has its own connection: a local one is cheap, and none
 * becomes stale.
 */
export interface EngineSocket {
  ask(request: EngineRequest): Promise<EngineAnswer>
  /** Upgrades the connection to a raw stream in both directions; bytes that came with the response are read first. */
  upgrade(path: string): Promise<Socket>
}

/** A busy engine may be slow; one that exceeds this limit has hung. */
const PATIENCE_MS = 60_000
/** The limit of a response: only the progress of a long pull comes near it. */
const MOST_ANSWER_BYTES = 16 << 20

export function engineSocket(socketPath: string, clock: Pick<Clock, 'after'>): EngineSocket {
  return {
    ask: ({ method, path, body, withinMs = PATIENCE_MS }) =>
      new Promise((resolve, reject) => {
        const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
        const headers = payload && { 'content-type': 'application/json', 'content-length': payload.length }
        const asked = request({ socketPath, method, path, agent: false, headers: { host: 'engine', ...headers } })
        const forget = clock.after(withinMs, () => asked.destroy(new Error(`no answer in ${withinMs} ms`)))
        asked.once('error', (error) => {
          forget()
          reject(unreachable(socketPath, error))
        })
        asked.once('response', (answer) =>
          wholeText(answer)
            .then((text) => resolve({ status: answer.statusCode ?? 0, text }))
            .catch((error: Error) => reject(unreachable(socketPath, error)))
            .finally(forget),
        )
        asked.end(payload)
      }),
    upgrade: (path) =>
      new Promise((resolve, reject) => {
        const headers = { host: 'engine', connection: 'Upgrade', upgrade: 'tcp', 'content-length': 0 }
        const asked = request({ socketPath, method: 'POST', path, agent: false, headers })
        const forget = clock.after(PATIENCE_MS, () => asked.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)))
        asked.once('error', (error) => {
          forget()
          reject(unreachable(socketPath, error))
        })
        asked.once('upgrade', (_, socket: Socket, head: Buffer) => {
          forget()
          if (head.length > 0) socket.unshift(head)
          resolve(socket)
        })
        asked.once('response', (answer) => {
          wholeText(answer)
            .then((text) => reject(refused({ status: answer.statusCode ?? 0, text })))
            .catch((error: Error) => reject(unreachable(socketPath, error)))
            .finally(forget)
        })
        asked.end()
      }),
  }
}

async function wholeText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > MOST_ANSWER_BYTES) throw new Error('the answer is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

const unreachable = (socketPath: string, error: Error): FaultError =>
  new FaultError(
    { kind: 'unavailable', what: `the engine of containers at ${socketPath} does not answer: ${error.message}` },
    error,
  )

/** The engine returned an unexpected response. */
export const refused = (answer: EngineAnswer): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the engine of containers refused: ${engineMessage(answer)}` })

/** Engines report errors as JSON. */
export function engineMessage({ status, text }: EngineAnswer): string {
  try {
    const { message, cause } = JSON.parse(text) as { message?: unknown; cause?: unknown }
    return String(message ?? cause ?? `status ${status}`).slice(0, 2000)
  } catch {
    return text.trim().slice(0, 500) || `status ${status}`
  }
}
