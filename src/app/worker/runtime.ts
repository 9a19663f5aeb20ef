import { join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import { apptainerRuntime } from '../../runtimes/apptainer/apptainer.ts'
import { dockerRuntime } from '../../runtimes/docker/docker.ts'
import { engineSocketPath } from '../../runtimes/docker/engine-places.ts'
import type { ImagePolicy } from '../../runtimes/images/image-cache.ts'
import { hostNetworks, noNetworks, type RoomNetworks } from '../../runtimes/network/room-networks.ts'
import { translatedNetworks } from '../../runtimes/network/translated-networks.ts'
import { openRuntime, type RuntimeDeps, type RuntimeOptions } from '../../runtimes/open-runtime.ts'
import type { Runtime, RuntimeProbe } from '../../runtimes/run/runtime.ts'
import type { Backend } from '../config/backends.ts'
import type { Config } from '../config/config.ts'
import { ownAddresses } from '../process/own-addresses.ts'
import { withoutRooms } from './without-rooms.ts'

export interface BackendOptions extends RuntimeDeps {
  readonly worker: string
  readonly containers: Config['worker']['docker']
  readonly network: Config['execution']['network']
  readonly surroundings: Readonly<Record<string, string | undefined>>
}

export interface OpenBackend {
  readonly runtime: Runtime
  readonly probe: Extract<RuntimeProbe, { works: true }>
  close(): Promise<void>
}

const RUNTIME_OF: Readonly<Record<Exclude<Backend, 'docker' | 'apptainer'>, RuntimeOptions>> = {
  auto: 'strongest',
  host: 'bare',
  sandbox: 'sandbox',
  unshare: 'unshare',
}

/** The backend `host` with `use_sandbox`. */
export async function openSandboxOrHost(options: BackendOptions): Promise<OpenBackend> {
  try {
    return await openBackend('auto', options)
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    return await openBackend('host', options)
  }
}

/** Opens the configured runtime. Rooms have their own environment; only bare rooms inherit the worker's. */
export async function openBackend(backend: Backend, given: BackendOptions): Promise<OpenBackend> {
  const options = { ...given, networks: roomNetworks(backend, given) }
  if (backend === 'docker') {
    const runtime = docker(options)
    return { runtime, probe: await working(runtime), close: () => runtime.close() }
  }
  if (backend === 'apptainer') {
    const images = imagePolicy(options)
    const runtime = apptainerRuntime({ ...options, env: [], user: options.user, isRoot: options.uid === 0, images })
    return { runtime, probe: await working(runtime), close: async () => {} }
  }
  const named = RUNTIME_OF[backend]
  try {
    const { runtime, probe } = await openRuntime(named, named === 'bare' ? options : { ...options, env: [] })
    return { runtime, probe, close: async () => {} }
  } catch (error) {
    if (!(error instanceof FaultError) || named === 'bare') throw error
    throw await withoutRooms(error, {
      docker: () => openBackend('docker', options),
      apptainer: () => openBackend('apptainer', options),
    })
  }
}

function docker(options: BackendOptions & { readonly networks: RoomNetworks }): ReturnType<typeof dockerRuntime> {
  const { DOCKER_HOST: dockerHost, XDG_RUNTIME_DIR: runtimeDir } = options.surroundings
  const own = { uid: options.uid, gid: process.getgid?.() ?? options.uid }
  return dockerRuntime({
    ...options,
    env: [],
    user: options.user ?? own,
    socketPath: engineSocketPath({ dockerHost, runtimeDir }),
    images: imagePolicy(options),
    machineNetwork: machineNetworkOf(options),
    isRoot: options.uid === 0,
  })
}

/** Where the machine's network is granted, containers may use a network of the engine instead. */
const machineNetworkOf = ({ containers: { network_mode } }: BackendOptions): string =>
  network_mode === 'none' ? 'host' : network_mode

function roomNetworks(backend: Backend, options: BackendOptions): RoomNetworks {
  const { folder, uid, clock, network, containers } = options
  if (network.mode === 'off') return noNetworks('mode is "off" under [execution.network]')
  if (network.mode === 'host') return hostNetworks()
  if (backend === 'docker' && containers.network_mode !== 'none')
    return noNetworks(
      `worker.docker.network_mode is ${JSON.stringify(containers.network_mode)}, a network in which private addresses can be reached; ` +
        'set it to "none" for networks of the rooms\' own, or set mode = "host" under [execution.network] to allow it',
    )
  const { reach } = network
  return translatedNetworks({ folder: join(folder, 'networks'), isRoot: uid === 0, reach, own: ownAddresses, clock })
}

const imagePolicy = ({ containers: { image, pull, image_cache_bytes, registries } }: BackendOptions): ImagePolicy => ({
  image,
  pull,
  maxBytes: image_cache_bytes,
  registries: registries.length === 0 ? undefined : registries,
})

async function working(runtime: Runtime): Promise<OpenBackend['probe']> {
  const probe = await runtime.probe()
  if (probe.works) return probe
  throw new FaultError({ kind: 'unavailable', what: `the ${runtime.name} backend does not work here: ${probe.reason}` })
}
