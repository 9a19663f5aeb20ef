import { connect as connectNet, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import type { ListenAddress } from '../../grpc/address.ts'
import type { ClientTls, Elsewhere, Refusal } from '../../grpc/client/channel.ts'
import { dialProblem } from '../../grpc/client/dial-problem.ts'
import { STRANGER_REASON, strangerBehind, strangerIn } from '../../grpc/http2/stranger.ts'
import { ADDRESSES_PATH } from '../../model/server-addresses.ts'
import { unreached } from './server-fault.ts'
import type { Target } from './target.ts'

export interface AskOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly tls: ClientTls
}

const ANSWER_MS = 5_000
const MOST_BYTES = 64 * 1024

interface Addresses {
  readonly addresses: Readonly<Record<string, unknown>>
}

/**
 * Where a server serves gRPC and HTTP, asked at either of its ports; undefined when it does not answer that. The
 * request is HTTP/1.1 in both cases: the gRPC port of a Windlass server answers it after its HTTP/2 greeting, so the
 * answer is looked for in all that comes.
 */
async function askAddresses(target: Target, options: AskOptions): Promise<Addresses | Refusal | undefined> {
  const exchanged = await exchange(target, options)
  const refusal = refusalIn(exchanged)
  if (refusal !== undefined) return refusal
  const { received } = exchanged
  const at = received.indexOf('HTTP/1.')
  const body = at < 0 ? '' : received.slice(received.indexOf('\r\n\r\n', at) + 4)
  const json = /\{[^{}]*\}/.exec(body)?.[0]
  try {
    return json === undefined ? undefined : { addresses: JSON.parse(json) as Record<string, unknown> }
  } catch {
    return undefined
  }
}

/** Why the server did not accept the request, in the words of the gRPC client. */
function refusalIn({ received, error }: Exchanged): Refusal | undefined {
  const { code = '', message = '' } = error ?? {}
  const stranger = strangerBehind(code) ?? strangerIn(Buffer.from(received, 'latin1'), { isServer: false })
  if (stranger === 'tls' || stranger === 'plain') return { refusal: STRANGER_REASON[stranger], stranger }
  return received === '' && error !== undefined
    ? { refusal: dialProblem(code, message), stranger: undefined }
    : undefined
}

interface Exchanged {
  readonly received: string
  readonly error: NodeJS.ErrnoException | undefined
}

function exchange(target: Target, { clock, tls }: AskOptions): Promise<Exchanged> {
  const { address, secure } = target
  const host = 'path' in address ? 'localhost' : address.host
  const socket: Socket = secure
    ? connectTls({
        ...address,
        ...tls,
        allowPartialTrustChain: tls.ca !== undefined,
        ALPNProtocols: ['http/1.1', 'h2'],
      })
    : connectNet(address)
  const port = 'path' in address ? '' : `:${address.port}`
  const name = host.includes(':') ? `[${host}]` : host
  return new Promise((resolve) => {
    let received = ''
    const end = (error?: NodeJS.ErrnoException): void => {
      cancel()
      socket.destroy()
      resolve({ received, error })
    }
    const cancel = clock.after(ANSWER_MS, end)
    socket.on(secure ? 'secureConnect' : 'connect', () =>
      socket.write(`GET ${ADDRESSES_PATH} HTTP/1.1\r\nHost: ${name}${port}\r\nConnection: close\r\n\r\n`),
    )
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
      if (received.length > MOST_BYTES) end()
    })
    socket.on('error', end).on('close', () => end())
  })
}

/** Starts a TLS handshake. Its outcome does not matter: an alert is TLS as well. */
function speaksTls({ address }: Target, { clock }: AskOptions): Promise<boolean> {
  const socket = connectTls({ ...address, rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] })
  return new Promise((resolve) => {
    const end = (is: boolean): void => {
      cancel()
      socket.destroy()
      resolve(is)
    }
    const cancel = clock.after(ANSWER_MS, () => end(false))
    socket.on('secureConnect', () => end(true))
    socket.on('error', (error: NodeJS.ErrnoException) => end(/_ALERT_/.test(error.code ?? '')))
    socket.on('close', () => end(false))
  })
}

/** The port that the server names, on the host by which the caller reached it: the server may not know that name. */
function otherAddress(target: Target, reported: unknown): ListenAddress | undefined {
  if (typeof reported !== 'string') return undefined
  if (reported.startsWith('unix:')) return { path: reported.slice('unix:'.length) }
  const [, name = '', port] = /^(.*):(\d+)$/.exec(reported) ?? []
  if (port === undefined) return undefined
  const host = 'path' in target.address ? name.replace(/^\[|\]$/g, '') : target.address.host
  return { host, port: Number(port) }
}

/** For a channel: gRPC is looked for when the target turns out to be the HTTP port. */
export const grpcElsewhere = (target: Target, options: AskOptions): Elsewhere => ({
  async ask() {
    const answer = await askAddresses(target, options)
    return answer !== undefined && 'refusal' in answer ? answer : otherAddress(target, answer?.addresses.grpc)
  },
  speaksTls: () => speaksTls(target, options),
  follow: target.byHttp === true,
})

/** The HTTP address of the target's server; undefined when the server does not report one. Throws `unavailable`. */
export async function httpAddress(target: Target, options: AskOptions): Promise<ListenAddress | undefined> {
  const answer = await askAddresses(target, options)
  if (answer !== undefined && 'refusal' in answer) throw unreached(target, answer)
  // Many TLS servers close a plain connection without an alert.
  if (answer === undefined && !target.secure && (await speaksTls(target, options)))
    throw unreached(target, { refusal: STRANGER_REASON.tls, stranger: 'tls' })
  return otherAddress(target, answer?.addresses.http)
}
