import { impliesVersion, isMet, needText } from './probe/needs.ts'
import type { ServerOffer } from './probe/offer.ts'
import type { ReapiBehaviour } from './table/behaviours.ts'

/** Why a behaviour does not apply to this server; undefined when it does. */
export function unoffered({ needs, since }: ReapiBehaviour, offer: ServerOffer): string | undefined {
  const unmet = needs.find((need) => !isMet(need, offer))
  if (unmet === 'worker' && offer.idle !== undefined) return `needs ${needText(unmet)}: ${offer.idle}`
  if (unmet !== undefined) return `needs ${needText(unmet)}`
  const high = offer.capabilities.highApiVersion
  // A server that advertises a feature of a later version implements it, whatever version it reports.
  if (high === undefined || needs.some(impliesVersion)) return undefined
  const [major = 0, minor = 0] = since.split('.').map(Number)
  const isOlder = high.major < major || (high.major === major && high.minor < minor)
  return isOlder
    ? `requires API ${since}; the server supports API versions up to ${high.major}.${high.minor}`
    : undefined
}
