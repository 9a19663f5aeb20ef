import { statSync } from 'node:fs'

/** What of a worker's surroundings tells where its engine of containers is. */
export interface EngineSurroundings {
  /** DOCKER_HOST, as Docker's own programs read it. */
  readonly dockerHost: string | undefined
  /** XDG_RUNTIME_DIR: engines of an ordinary user are there. */
  readonly runtimeDir: string | undefined
}

/** The socket of the first engine that is there; where nobody is, of the one that most machines would have, to name it in what is said then. */
export function engineSocketPath({ dockerHost, runtimeDir }: EngineSurroundings): string {
  // What is not a socket of this machine could not bind its folders.
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
