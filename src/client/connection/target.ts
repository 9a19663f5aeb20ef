import { resolve } from 'node:path'
import type { ListenAddress } from '../../grpc/address.ts'

/** The address of a server, in the notation of Bazel. */
export interface Target {
  readonly text: string
  readonly address: ListenAddress
  readonly secure: boolean
  /** Written as http:// or https://: the address of either port of a server will do. */
  readonly byHttp?: true
}

const DEFAULT_PORT: Readonly<Record<string, number>> = { 'grpc:': 80, 'grpcs:': 443, 'http:': 80, 'https:': 443 }

/** Parses `grpc(s)://host:port`, `http(s)://host:port`, `unix:path` or a bare `host:port`; otherwise undefined. */
export function parseTarget(text: string): Target | undefined {
  const socket = /^unix:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1]
  if (socket !== undefined) return { text, address: { path: resolve(socket) }, secure: false }
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `grpc://${text}`)
  const defaultPort = DEFAULT_PORT[url?.protocol ?? '']
  if (url === null || defaultPort === undefined) return undefined
  if (url.hostname === '' || !/^\/?$/.test(url.pathname) || url.search !== '') return undefined
  return {
    text,
    address: { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? defaultPort : Number(url.port) },
    secure: /s:$/.test(url.protocol),
    ...(url.protocol.startsWith('http') && { byHttp: true }),
  }
}
