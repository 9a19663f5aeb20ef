import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import { type Containers, localContainers } from '../../cwl-runner/container/containers.ts'
import { engineCommands } from '../../cwl-runner/container/engine-commands.ts'
import type { ContainerService } from '../../cwl-runner/container/find-engine.ts'
import { dockerRuntime } from '../../runtimes/docker/docker.ts'
import { hostNetworks } from '../../runtimes/network/room-networks.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import { systemClock } from '../process/clock.ts'

export interface ContainersOptions {
  /** The folder of the run. */
  readonly folder: string
  /** Runs docker and podman. */
  readonly runtime: Runtime
  readonly env: Readonly<Record<string, string | undefined>>
  readonly outputBytes: number
}

/** Containers of one workflow. Nothing is started before the first request for an image. */
export function openContainers({ folder, runtime, env, outputBytes }: ContainersOptions): Containers {
  const own = join(folder, 'engine')
  mkdirSync(own)
  const all = Object.fromEntries(Object.entries(env).filter((one): one is [string, string] => one[1] !== undefined))
  const engine = { worker: basename(folder), folder: join(own, 'runtime'), outputBytes }
  return localContainers({
    commands: engineCommands({ runtime, folder: own, env: all, clock: systemClock }),
    socketPath: join(own, 'podman.sock'),
    open: (socketPath) => openEngine({ ...engine, socketPath }),
  })
}

interface EngineOptions {
  readonly socketPath: string
  /** Unique on this machine: this run removes the containers that are labelled with it. */
  readonly worker: string
  /** A folder that only this engine uses. */
  readonly folder: string
  readonly outputBytes: number
}

/**
 * Opens the worker's container runtime for one workflow. Commands run as the user, so that outputs belong to the user.
 * Images are already present, and none is removed.
 */
async function openEngine(options: EngineOptions): Promise<ContainerService> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const runtime = dockerRuntime({
    ...options,
    clock: systemClock,
    env: [],
    user: { uid, gid },
    images: { pull: 'never', maxBytes: Number.POSITIVE_INFINITY, image: undefined },
    networks: hostNetworks(),
    machineNetwork: 'default', // the engine's default network, as with `docker run`
    arch: process.arch,
    isRoot: uid === 0,
    useGroups: false,
  })
  const probe = await runtime.probe()
  if (!probe.works) throw new FaultError({ kind: 'unavailable', what: probe.reason })
  return { runtime, [Symbol.asyncDispose]: () => runtime.close() }
}
