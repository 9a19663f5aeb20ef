import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { reapiDoor } from '../../doors/grpc/cache/door.ts'
import { type GrpcHealth, grpcHealth } from '../../doors/grpc/health/door.ts'
import { reflection } from '../../doors/grpc/reflection/door.ts'
import { storageAdmin } from '../../doors/grpc/storage-admin/door.ts'
import { httpCacheDoor } from '../../doors/http/cache/door.ts'
import { judge0Error } from '../../doors/http/judge0/problem.ts'
import { pistonError } from '../../doors/http/piston/problem.ts'
import { healthDoor, httpDoor } from '../../doors/http/server/http-door.ts'
import { HTTP_LIMITS, type HttpListener, listenHttp } from '../../doors/http/server/listen.ts'
import { snippetError } from '../../doors/http/snippets/problem.ts'
import { createServer, type GrpcServer, type ServerTls } from '../../grpc/server/server.ts'
import type { Service } from '../../grpc/service.ts'
import type { ServerAddresses } from '../../model/server-addresses.ts'
import { descriptorSet } from '../../wire/admin/descriptor-set.ts'
import { formatAddress } from '../config/bind-address.ts'
import type { Config } from '../config/config.ts'
import { servedHosts } from '../config/exposure.ts'
import { grpcLimits } from '../config/grpc.ts'
import { callerRates, httpLimits, socketLimits } from '../config/http-limits.ts'
import { logged } from '../metrics/grpc.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { packGauges, storeFigures } from '../metrics/storage.ts'
import { fittingOpenFiles, openFilesLimit } from '../process/open-files.ts'
import { readTlsFiles } from '../process/tls-files.ts'
import { version } from '../process/version.ts'
import type { Grid } from './grid.ts'
import { listenAt } from './listen.ts'
import { openGridIfPossible } from './open-grid.ts'
import { createReadiness, type Readiness } from './readiness.ts'
import { type ReloadReport, reloader } from './reload.ts'
import { openStorage, type Storage } from './storage.ts'
import { whereabouts } from './whereabouts.ts'

export interface RunningServer {
  /** The effective addresses: `127.0.0.1:8980`, or `unix:/path`. */
  readonly grpc: string
  readonly http: string
  /** The URL for a browser. */
  readonly httpUrl: string
  /** The report of /readyz. */
  readonly readiness: Readiness
  /**
   * Applies those of the new settings that can change at run time; throws, and changes nothing, when files are invalid.
   */
  reload(next: Config): ReloadReport
  /** Refuses new tasks and is not ready from now on; accepted tasks continue. `stop` follows. */
  refuseTasks(): void
  /** The address that serves health only, if configured. */
  readonly health?: string | undefined
  /** Lets running calls finish for the configured time; a second call returns the same promise. */
  stop(): Promise<void>
}

export interface ServerSurroundings {
  readonly log: Log
  readonly clock: Clock
  /** May contain causes of the caller, which the caller releases; a new one by default. */
  readonly readiness?: Readiness
  /** Whether a worker is expected that has not registered: requests wait for its languages. */
  readonly isWorkerComing?: () => boolean
}

/** Builds all components of a server, from storage to listeners. */
export async function startServer(
  config: Config,
  { log, clock, readiness = createReadiness(), isWorkerComing }: ServerSurroundings,
): Promise<RunningServer> {
  readiness.hold('starting')
  const live = { config }
  const metrics = createMetrics(clock.monotonic)
  const tls = readTlsFiles(config.server.tls)

  const storage = await openStorage(config, { clock, log, meter: storeFigures(metrics.registry) })
  packGauges(metrics.registry, storage.figures)

  const callbackSecret = () => live.config.snippets.callback_secret
  const gridTools = { clock, log, storage, registry: metrics.registry, isWorkerComing, callbackSecret, readiness }
  const grid = await openGridIfPossible(config, gridTools).catch(async (error: unknown) => {
    await storage.close()
    throw error
  })
  const found = whereabouts(tls !== undefined)
  const probed = grpcHealth()
  const services = grpcServices({ health: probed, storage, grid, clock })

  const observer = logged(metrics.observer, log)
  const grpc = grpcServer(config, { services, clock, observer, http1Answer: found.misdirected, ...(tls && { tls }) })
  const doorParts = { metrics, readiness, storage, grid, clock, log, addresses: found.addresses }
  const door = httpDoors(config, doorParts)

  const { grpcAddress, http, health } = await listen(config, { grpc, door, grid, clock, log, tls, readiness }).catch(
    async (error: unknown) => {
      grpc.close()
      await grid?.close()
      await storage.close()
      throw error
    },
  )

  readiness.onChange((ready) => probed.set('', ready))
  for (const { name } of services) probed.set(name, true)
  readiness.release('starting')

  const taken = found.at(formatAddress(grpcAddress), http.address)
  log.info({ ...taken, health, version: version() }, 'serving')
  return {
    grpc: taken.grpc,
    http: taken.http,
    health,
    httpUrl: http.address.startsWith('unix:') ? http.address : `${tls ? 'https' : 'http'}://${http.address}`,
    readiness,
    reload: reloading(live, { grpc, http, doorParts, storage }),
    ...stopping(
      { readiness, health: probed, grid, grpc, http, storage, clock },
      () => live.config.server.drain_seconds * 1000,
    ),
  }
}

type GrpcServerParts = Omit<Parameters<typeof createServer>[0], 'timing' | 'limits'> & { readonly clock: Clock }

const grpcServer = (config: Config, { clock, ...parts }: GrpcServerParts): GrpcServer =>
  createServer({
    ...parts,
    timing: { now: clock.monotonic, after: clock.after },
    limits: grpcLimits(config.grpc),
  })

interface ReloadingParts {
  readonly grpc: GrpcServer
  readonly http: Pick<HttpListener, 'setTls' | 'replaceApp'>
  readonly doorParts: HttpParts
  readonly storage: Pick<Storage, 'reloadUpstreamTls'>
}

/** `live` holds the effective settings. */
const reloading = (
  live: { config: Config },
  { grpc, http, doorParts, storage }: ReloadingParts,
): RunningServer['reload'] =>
  reloader(live.config, {
    reloadUpstreamTls: storage.reloadUpstreamTls,
    setTls(tls) {
      grpc.setTls(tls)
      http.setTls(tls)
    },
    setConfig(next) {
      live.config = next
      http.replaceApp(httpDoors(next, doorParts))
    },
  })

interface StoppingParts extends Pick<GrpcParts, 'health' | 'grid' | 'storage' | 'clock'> {
  readonly readiness: Readiness
  readonly grpc: GrpcServer
  readonly http: { close(graceMs: number): Promise<void> }
}

function stopping(parts: StoppingParts, graceOf: () => number): Pick<RunningServer, 'refuseTasks' | 'stop'> {
  const { readiness, health, grid, grpc, http, storage, clock } = parts
  const refuseTasks = (): void => {
    readiness.hold('stopping')
    health.drain()
    grid?.refuseTasks()
  }
  const drain = async (): Promise<void> => {
    const graceMs = graceOf()
    const end = clock.monotonic() + graceMs
    refuseTasks()
    grid?.leave()
    const drained = grpc.drain(graceMs)
    // At once: waiting clients get an error that makes them reconnect, and workers continue their tasks until they can
    // report.
    await grid?.close()
    await drained
    // Last, so that probes are answered for as long as possible.
    await http.close(Math.max(0, end - clock.monotonic()))
    await storage.close()
  }
  let stopped: Promise<void> | undefined
  return { refuseTasks, stop: () => (stopped ??= drain()) }
}

interface GrpcParts {
  readonly health: GrpcHealth
  readonly storage: Storage
  readonly grid: Grid | undefined
  readonly clock: Clock
}

/** All gRPC services. */
function grpcServices({ health, storage, grid, clock }: GrpcParts): Service[] {
  const services: Service[] = [
    health.service,
    ...reapiDoor({ instances: storage.instances, clock, executes: () => grid !== undefined, logs: grid?.logs }),
    ...(grid?.services ?? []),
    storageAdmin(storage.admin),
  ]
  services.push(...reflection(descriptorSet(), () => services.map(({ name }) => name)))
  return services
}

interface HttpParts {
  readonly metrics: ReturnType<typeof createMetrics>
  readonly readiness: ReturnType<typeof createReadiness>
  readonly storage: Storage
  readonly grid: Grid | undefined
  readonly clock: Clock
  readonly log: Log
  readonly addresses: () => ServerAddresses | undefined
}

/** All HTTP routes. */
function httpDoors(
  config: Config,
  { metrics, readiness, storage, grid, clock, log, addresses }: HttpParts,
): ReturnType<typeof httpDoor> {
  const door = httpDoor({
    errorShapes: [snippetError, pistonError, judge0Error],
    readiness: readiness.state,
    metricsText: metrics.text,
    metricsContentType: metrics.contentType,
    meter: metrics.meter,
    allowedHosts: servedHosts(config),
    allowedOrigins: config.http.allowed_origins,
    maxBodyBytes: config.limits.max_body_bytes,
    trustedProxies: config.limits.trusted_proxies,
    rates: { ...callerRates(config.limits), clock },
    version: version(),
    addresses,
    log,
  })
  for (const each of grid?.doors ?? []) door.route('/', each)
  door.route('/', httpCacheDoor({ instances: storage.instances, clock, log }))
  return door
}

interface Doors {
  readonly grpc: GrpcServer
  readonly door: ReturnType<typeof httpDoor>
  readonly grid: Grid | undefined
  readonly clock: Clock
  readonly log: Log
  readonly tls: ServerTls | undefined
  readonly readiness: ReturnType<typeof createReadiness>
}

async function listen(config: Config, { grpc, door, grid, clock, log, tls, readiness }: Doors) {
  const grpcAddress = await listenAt(config.server.address, '--grpc', grpc.listen)
  const http = await listenAt(config.server.http_address, '--http', (address) =>
    listenHttp(door, address, {
      clock,
      log,
      sockets: grid?.sockets ?? [],
      limits: fittingOpenFiles({ ...HTTP_LIMITS, ...httpLimits(config.limits) }, openFilesLimit(), log),
      socketLimits: socketLimits(config.limits),
      trustedProxies: config.limits.trusted_proxies,
      ...(tls && { tls }),
    }),
  )
  const { health_address } = config.http
  const probes =
    health_address === undefined
      ? undefined
      : await listenAt(health_address, 'http.health_address', (address) =>
          listenHttp(healthDoor({ readiness: readiness.state, version: version() }), address, {
            clock,
            log,
            limits: httpLimits(config.limits),
          }),
        ).catch(async (error: unknown) => {
          await http.close(0)
          throw error
        })
  const close = async (graceMs: number): Promise<void> => {
    await http.close(graceMs)
    await probes?.close(0)
  }
  return { grpcAddress, http: { ...http, close }, health: probes?.address }
}
