import { isIP } from 'node:net'
import { isPublicAddress } from '../../base/address-rules.ts'

/**
 * Why no image may be pulled from a registry; undefined when one may. Where the operator lists registries, those and no
 * others; else any that is not written as a private address: the name of an image must not make the engine send requests to services
 * of this machine and its neighbours.
 */
export function registryProblem(registry: string, listed: readonly string[] | undefined): string | undefined {
  if (listed !== undefined)
    return listed.includes(registry) ? undefined : `${registry} is not listed in worker.docker.registries`
  const host = hostOf(registry)
  const isNamedHere = host === 'localhost' || host?.endsWith('.localhost') === true
  if (host !== undefined && !isNamedHere && (isIP(host) === 0 || isPublicAddress(host))) return undefined
  return `${registry} is not a public address; the operator can list it in worker.docker.registries`
}

/** In its usual form, as a URL has it: 127.1, 0x7f.0.0.1 and 2130706433 are all 127.0.0.1. */
function hostOf(registry: string): string | undefined {
  const text = `http://${registry}/`
  return URL.canParse(text) ? new URL(text).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') : undefined
}
