import type { Clock } from '../../base/clock.ts'
import type { Channel, ClientTls } from '../../grpc/client/channel.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { httpStore } from '../../worker/cas/http-store.ts'
import { grpcLink } from '../../worker/links/grpc-link.ts'
import { type HttpCaller, httpCaller } from '../../worker/links/http-caller.ts'
import { httpLink } from '../../worker/links/http-link.ts'
import type { WorkerLink } from '../../worker/links/worker-link.ts'
import type { Config } from '../config/config.ts'
import { channelTo, openChannels, readTls, workerTarget } from './target.ts'
import type { StoresByInstance } from './tools.ts'

/** The worker's connections to its server and to the store. */
export interface WorkerWays {
  link(worker: string, hostname: string): WorkerLink
  readonly cas: Channel | StoresByInstance
  readonly casName: string
  /** The store without retries, for the first contact, whose failure is logged; undefined when `cas` does not retry. */
  readonly firstContact?: BlobStore | undefined
  /** New connections use these certificates and keys. */
  setTls(tls: ClientTls): void
  close(): void
}

export interface WaysTools {
  readonly clock: Clock
  /** The variables that name proxies. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export function openWays(worker: Config['worker'], tools: WaysTools): WorkerWays {
  if (worker.protocol === 'http') return httpWays(worker, tools)
  const { clock } = tools
  const { server, cas, casName, setTls, close } = openChannels(worker, clock)
  return {
    link: (id) => grpcLink({ channel: server, clock, worker: id, random: Math.random }),
    cas,
    casName,
    setTls,
    close,
  }
}

/** Uses HTTP for everything, unless a store with another kind of address is configured. */
function httpWays(worker: Config['worker'], { clock, env }: WaysTools): WorkerWays {
  const { server_url, cas_url = server_url } = worker
  const tls = readTls(worker.tls)
  const random = Math.random
  const { headers } = worker
  const server = httpCaller({ url: server_url, clock, tls, env, headers })
  const cas = /^grpcs?:/.test(cas_url)
    ? channelTo(workerTarget('worker.cas_url', cas_url), { clock, tls, headers })
    : storesAt(cas_url === server_url ? server : httpCaller({ url: cas_url, clock, tls, env, headers }), clock)
  return {
    link: (id, hostname) => httpLink({ caller: server, clock, worker: id, hostname, random }),
    cas,
    casName: cas_url,
    firstContact: 'firstContact' in cas ? cas.firstContact : undefined,
    setTls: (next) => void Object.assign(tls, next), // read at every dial
    close() {
      server.close()
      cas.close()
    },
  }
}

const storesAt = (caller: HttpCaller, clock: Clock) =>
  Object.assign((instance: string): BlobStore => httpStore({ caller, instance, clock, random: Math.random }), {
    close: caller.close,
    firstContact: httpStore({ caller, instance: '', clock, random: Math.random, patienceMs: 0 }),
  })
