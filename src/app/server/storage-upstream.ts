import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import { parseTarget } from '../../client/connection/target.ts'
import { type ClientTls, createChannel } from '../../grpc/client/channel.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { guardedUpstream, type UpstreamEvents } from '../../storage/upstream/outage.ts'
import { readThrough } from '../../storage/upstream/read-through.ts'
import { readThroughActions } from '../../storage/upstream/read-through-actions.ts'
import { openUpstream } from '../../storage/upstream/upstream.ts'
import { upstreamActionCache } from '../../storage/upstream/upstream-action-cache.ts'
import { upstreamStore } from '../../storage/upstream/upstream-store.ts'
import type { Config } from '../config/config.ts'
import { checkClientTls } from '../process/tls-files.ts'

/** Another server, as a base for store stacks. */
export interface UpstreamStorage {
  /** The blobs of one of its instances. */
  blobs(instance: string): BlobStore
  /** The same behind a local store. */
  behind(local: BlobStore, instance: string): BlobStore
  readonly actions: ActionCache
  /** The upstream's results behind a local cache. */
  actionsBehind(local: ActionCache, there: ActionCache): ActionCache
  /** The upstream instance for blobs of a space, on behalf of `name`; undefined when none is allowed. */
  instanceFor(space: number, name: string): string | undefined
  reloadTls: ReloadUpstreamTls
  close(): void
}

/**
 * Reads the files of these settings, and throws `invalid` when one cannot be used. The result names them; its `apply`
 * makes new connections use them.
 */
export type ReloadUpstreamTls = (settings: Settings['tls']) => { readonly files: readonly string[]; apply(): void }

export interface UpstreamTools {
  readonly clock: Clock
  readonly log: Log
  readonly bulk: BulkPool
}

type Settings = Config['storage']['upstream']

/** Undefined without an upstream. It connects on first use. */
export function openUpstreamStorage(
  settings: Settings,
  { clock, log, bulk }: UpstreamTools,
): UpstreamStorage | undefined {
  const target = settings.url === undefined ? undefined : parseTarget(settings.url)
  if (target === undefined) return undefined
  const tls = target.secure ? readClientTls(settings.tls) : undefined
  const channel = createChannel({
    address: target.address,
    timing: { now: clock.monotonic, after: clock.after },
    metadata: settings.headers,
    ...(tls && { tls }),
    // Short, because the layer above decides how often an unreachable upstream is retried.
    maxBackoffMs: 1000,
    random: Math.random,
  })
  const timeoutMs = settings.timeout_seconds * 1000
  const upstream = openUpstream({ channel, clock, timeoutMs, newId: randomUUID, random: Math.random })
  const events = loggedUpstream(log.child({ upstream: target.text }))
  const shared = {
    asking: guardedUpstream({ clock, events, whenDown: settings.when_down }),
    events,
    writeThrough: settings.write_through,
  }
  const blobs = (instance: string): BlobStore => upstreamStore({ upstream, instance, bulk })
  const { instance: only } = settings
  return {
    blobs,
    behind: (local, instance) => readThrough({ ...shared, clock, upstream: blobs(instance) })(local),
    actions: upstreamActionCache({ upstream, instanceThere: (name) => only ?? name }),
    actionsBehind: (local, there) => readThroughActions({ ...shared, upstream: there })(local),
    instanceFor(space, name) {
      // Names that share space 0 here share one instance of the upstream. Names with their own space use their own
      // names there, and are not forwarded when the upstream has only one instance.
      if (space === 0) return only ?? ''
      return only === undefined ? name : undefined
    },
    reloadTls(next) {
      if (tls === undefined) return { files: [], apply() {} }
      const read = readClientTls({ ...next, server_name: settings.tls.server_name })
      const none = { ca: undefined, cert: undefined, key: undefined }
      const files = [next.ca_file, next.cert_file, next.key_file].filter((file) => file !== undefined)
      return { files, apply: () => void Object.assign(tls, none, read) } // read at every dial
    },
    close: () => channel.close(),
  }
}

const loggedUpstream = (log: Log): UpstreamEvents => ({
  failed: (doing, error) => log.debug({ err: error, doing }, 'the upstream could not answer'),
  resting: (restMs, error) => log.warn({ err: error, restMs }, 'upstream does not answer, skipping it for a while'),
  back: () => log.info({}, 'upstream answers again'),
  notKept: (error) => log.warn({ err: error }, 'cannot store a blob of the upstream'),
})

function readClientTls({ ca_file, cert_file, key_file, server_name }: Settings['tls']): ClientTls {
  const read = (key: string, file: string | undefined) =>
    file === undefined ? {} : { [key]: telling(`storage.upstream.tls.${key}_file`, () => readFileSync(file, 'utf8')) }
  const tls: ClientTls = { ...read('ca', ca_file), ...read('cert', cert_file), ...read('key', key_file) }
  checkClientTls('storage.upstream.tls', tls)
  return server_name === undefined ? tls : { ...tls, serverName: server_name }
}

function telling<T>(what: string, attempt: () => T): T {
  try {
    return attempt()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new FaultError({ kind: 'invalid', what: `${what}: ${why}` }, error)
  }
}
