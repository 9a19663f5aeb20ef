import { readFileSync } from 'node:fs'
import type { Log } from '../../base/log.ts'
import type { HttpLimits } from '../../doors/http/server/listen.ts'

/**
 * The share of open files for HTTP connections; each connection is an open file. The store, the journal, gRPC and
 * others need the rest.
 */
const SHARE_OF_HTTP = 0.5
const SHARE_ABOVE_CAPS = 0.125

/** The process's limit of open files; undefined where the kernel does not report it. */
export function openFilesLimit(): number | undefined {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined // not Linux
  }
}

type ConnectionCaps = Pick<HttpLimits, 'connections' | 'connectionsAbove'>

/**
 * Limits connections to the available open files: without free files the server could not even accept a health request.
 */
export function fittingOpenFiles<T extends ConnectionCaps>(limits: T, openFiles: number | undefined, log: Log): T {
  if (openFiles === undefined) return limits
  const connections = Math.max(1, Math.min(limits.connections, Math.floor(openFiles * SHARE_OF_HTTP)))
  const connectionsAbove = Math.max(1, Math.min(limits.connectionsAbove, Math.floor(openFiles * SHARE_ABOVE_CAPS)))
  if (connections < limits.connections)
    log.warn(
      { max_connections: limits.connections, open_files: openFiles, connections },
      'fewer HTTP connections than limits.max_connections: raise the limit of open files (ulimit -n)',
    )
  return { ...limits, connections, connectionsAbove }
}
