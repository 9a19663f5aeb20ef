import { isMet, needSays, tellsVersion } from './probe/needs.ts'
import type { ServerOffer } from './probe/offer.ts'
import type { ReapiBehaviour } from './table/behaviours.ts'

/** Why a behaviour does not apply to this server; undefined when it does. */
export function unoffered({ needs, since }: ReapiBehaviour, offer: ServerOffer): string | undefined {
  const unmet = needs.find((need) => !isMet(need, offer))
  if (unmet === 'worker' && offer.idle !== undefined) return `needs ${needSays(unmet)}: ${offer.idle}`
  if (unmet !== undefined) return `needs ${needSays(unmet)}`
  const high = offer.capabilities.highApiVersion
  // A server that advertises a feature of a later version implements it, whatever version it reports.
  if (high === undefined || needs.some(tellsVersion)) return undefined
  const [major = 0, minor = 0] = since.split('.').map(Number)
  const isOlder = high.major < major || (high.major === major && high.minor < minor)
  return isOlder ? `came with API ${since}; the server speaks up to ${high.major}.${high.minor}` : undefined
}
