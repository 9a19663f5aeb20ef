import { resolve } from 'node:path'
import type { ListenAddress } from '../grpc/server.ts'

/** A server as people write it down, in the words that Bazel uses. */
export interface Target {
  readonly text: string
  readonly address: ListenAddress
  readonly secure: boolean
}

const DEFAULT_PORT = { 'grpc:': 80, 'grpcs:': 443 } as const

/** Reads `grpc://host:port`, `grpcs://host:port`, `unix:/path` or a bare `host:port`; undefined when it is none. */
export function parseTarget(text: string): Target | undefined {
  const socket = /^unix:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1]
  if (socket !== undefined) return { text, address: { path: resolve(socket) }, secure: false }
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `grpc://${text}`)
  if (url === null || (url.protocol !== 'grpc:' && url.protocol !== 'grpcs:')) return undefined
  if (url.hostname === '' || !/^\/?$/.test(url.pathname) || url.search !== '') return undefined
  const port = url.port === '' ? DEFAULT_PORT[url.protocol] : Number(url.port)
  return { text, address: { host: url.hostname.replace(/^\[|\]$/g, ''), port }, secure: url.protocol === 'grpcs:' }
}
