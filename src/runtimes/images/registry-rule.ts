import { isIP } from 'node:net'
import { isPublicAddress } from '../../base/address-rules.ts'

/**
 * Returns why images may not be pulled from a registry; undefined when they may. If the operator lists registries, only
 * those are allowed. Otherwise every registry is allowed that is not a private address, because an image name must not
 * make the engine send requests to services of this machine and its network.
 */
export function registryProblem(registry: string, listed: readonly string[] | undefined): string | undefined {
  if (listed !== undefined)
    return listed.includes(registry) ? undefined : `${registry} is not listed in worker.docker.registries`
  const host = hostOf(registry)
  const isNamedHere = host === 'localhost' || host?.endsWith('.localhost') === true
  if (host !== undefined && !isNamedHere && (isIP(host) === 0 || isPublicAddress(host))) return undefined
  return `${registry} is not a public address; the operator can list it in worker.docker.registries`
}

/** The normalised form, as a URL has it: 127.1, 0x7f.0.0.1 and 2130706433 are all 127.0.0.1. */
function hostOf(registry: string): string | undefined {
  const text = `http://${registry}/`
  return URL.canParse(text) ? new URL(text).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') : undefined
}
