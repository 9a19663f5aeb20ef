import { statSync } from 'node:fs'

/** The environment variables that contain the address of the container engine. */
export interface EngineSurroundings {
  /** DOCKER_HOST, as Docker's own programs read it. */
  readonly dockerHost: string | undefined
  /** XDG_RUNTIME_DIR, which contains the sockets of rootless engines. */
  readonly runtimeDir: string | undefined
}

/** Returns the socket of the first engine that exists; if none does, the default path, for use in messages. */
export function engineSocketPath({ dockerHost, runtimeDir }: EngineSurroundings): string {
  // An engine on another machine cannot mount this machine's folders.
  if (dockerHost?.startsWith('unix://') === true) return dockerHost.slice('unix://'.length)
  const own = runtimeDir === undefined ? [] : [`${runtimeDir}/docker.sock`, `${runtimeDir}/podman/podman.sock`]
  const places = [...own, '/var/run/docker.sock', '/run/podman/podman.sock']
  return places.find(isSocket) ?? '/var/run/docker.sock'
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket()
  } catch {
    return false
  }
}
