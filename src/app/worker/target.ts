import { readFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { grpcElsewhere } from '../../client/connection/server-addresses.ts'
import { parseTarget, type Target } from '../../client/connection/target.ts'
import { type Channel, type ClientTls, createChannel } from '../../grpc/client/channel.ts'
import type { Config } from '../config/config.ts'
import { checkClientTls } from '../process/tls-files.ts'

/** A server, as worker settings name it. */
export function workerTarget(key: string, text: string): Target {
  const target = parseTarget(text)
  if (target === undefined)
    throw invalid(`${key}: ${text} is none of http://host:port, https://host:port, grpc(s)://host:port and unix:/path`)
  return target
}

type Headers = Readonly<Record<string, string>>

export interface WorkerChannels {
  readonly server: Channel
  readonly cas: Channel
  readonly casName: string
  /** New connections use these certificates and keys. */
  setTls(tls: ClientTls): void
  close(): void
}

/** Uses one connection for both if both are the same server. */
export function openChannels(worker: Config['worker'], clock: Clock): WorkerChannels {
  const { server_url, cas_url = server_url } = worker
  const tls = readTls(worker.tls)
  const open = (key: string, url: string): Channel =>
    channelTo(workerTarget(key, url), { clock, tls, headers: worker.headers })
  const server = open('worker.server_url', server_url)
  const cas = cas_url === server_url ? server : open('worker.cas_url', cas_url)
  return {
    server,
    cas,
    casName: cas_url,
    setTls: (next) => void Object.assign(tls, next), // read at every dial
    close() {
      server.close()
      cas.close()
    },
  }
}

export const channelTo = (
  target: Target,
  { clock, tls, headers = {} }: { readonly clock: Clock; readonly tls: ClientTls; readonly headers?: Headers },
): Channel =>
  createChannel({
    address: target.address,
    elsewhere: grpcElsewhere(target, { clock, tls }),
    metadata: headers,
    timing: { now: clock.monotonic, after: clock.after },
    // The layers above handle longer waits.
    maxBackoffMs: 1000,
    random: Math.random,
    // A server that disappears without closing the connection is detected before it counts this worker as lost.
    limits: { keepaliveMs: 10_000, keepaliveTimeoutMs: 10_000 },
    ...(target.secure && { tls }),
  })

export function readTls({ ca_file, cert_file, key_file, server_name }: Config['worker']['tls']): ClientTls {
  const read = (key: string, path: string | undefined) => {
    if (path === undefined) return {}
    try {
      return { [key]: readFileSync(path, 'utf8') }
    } catch (error) {
      throw new FaultError({ kind: 'invalid', what: `worker.tls.${key}_file: ${(error as Error).message}` }, error)
    }
  }
  const name = server_name === undefined ? {} : { serverName: server_name }
  const tls = { ...read('ca', ca_file), ...read('cert', cert_file), ...read('key', key_file) }
  checkClientTls('worker.tls', tls)
  return { ...tls, ...name }
}
