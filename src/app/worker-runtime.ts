import { FaultError } from '../base/fault.ts'
import { apptainerRuntime } from '../runtimes/apptainer/apptainer.ts'
import { dockerRuntime } from '../runtimes/docker/docker.ts'
import { engineSocketPath } from '../runtimes/docker/engine-places.ts'
import type { ImagePolicy } from '../runtimes/images/image-cache.ts'
import { openRuntime, type RuntimeDeps, type RuntimeWish } from '../runtimes/open-runtime.ts'
import type { Probe, Runtime } from '../runtimes/runtime.ts'
import type { Backend } from './backends.ts'
import type { Config } from './config.ts'

export interface BackendOptions extends RuntimeDeps {
  readonly worker: string
  readonly containers: Config['worker']['docker']
  readonly surroundings: Readonly<Record<string, string | undefined>>
}

export interface OpenBackend {
  readonly runtime: Runtime
  readonly probe: Extract<Probe, { works: true }>
  close(): Promise<void>
}

const WISHES: Readonly<Record<Exclude<Backend, 'docker' | 'apptainer'>, RuntimeWish>> = {
  auto: 'strongest',
  host: 'bare',
  sandbox: 'sandbox',
  unshare: 'unshare',
}

/** What commands run in, as the settings name it. Rooms have an environment of their own, and only bare ones ours. */
export async function openBackend(backend: Backend, options: BackendOptions): Promise<OpenBackend> {
  if (backend === 'docker') {
    const runtime = docker(options)
    return { runtime, probe: await working(runtime), close: () => runtime.close() }
  }
  if (backend === 'apptainer') {
    const images = imagePolicy(options)
    const runtime = apptainerRuntime({ ...options, env: [], user: options.user, isRoot: options.uid === 0, images })
    return { runtime, probe: await working(runtime), close: async () => {} }
  }
  const wish = WISHES[backend]
  try {
    const { runtime, probe } = await openRuntime(wish, wish === 'bare' ? options : { ...options, env: [] })
    return { runtime, probe, close: async () => {} }
  } catch (error) {
    if (!(error instanceof FaultError) || wish !== 'strongest') throw error
    const advice = 'or let commands run without a room by --backend host, if you trust everyone who sends them'
    throw new FaultError({ kind: 'unavailable', what: `${error.message}; ${advice}` }, error)
  }
}

function docker(options: BackendOptions): ReturnType<typeof dockerRuntime> {
  const { DOCKER_HOST: dockerHost, XDG_RUNTIME_DIR: runtimeDir } = options.surroundings
  const own = { uid: options.uid, gid: process.getgid?.() ?? options.uid }
  return dockerRuntime({
    ...options,
    env: [],
    user: options.user ?? own,
    socketPath: engineSocketPath({ dockerHost, runtimeDir }),
    images: imagePolicy(options),
    network: options.containers.network_mode,
  })
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
