import { readFileSync } from 'node:fs'
import type { Log } from '../../base/log.ts'
import type { HttpLimits } from '../../doors/http/server/listen.ts'

/** Files that the store, the journal, gRPC and others need beside HTTP connections: each connection is an open file. */
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

/** Limits connections to the available files: beyond that even a health request could not be accepted. */
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
