import { invalid } from '../base/fault.ts'
import type { Stager } from './stager.ts'

/**
 * Selects the stager by the URI scheme of the location, for example `stagersByScheme({ cas: casStager(trees) })`. Other
 * schemes go to `otherwise`; without it, nothing is found at their locations and nothing can be put there.
 */
export function stagersByScheme(stagers: Readonly<Record<string, Stager>>, otherwise?: Stager): Stager {
  const byScheme = new Map(Object.entries(stagers))
  const stagerFor = (location: string): Stager | undefined => byScheme.get(schemeOf(location)) ?? otherwise
  return {
    find: async (location) => stagerFor(location)?.find(location),
    async put(node, to) {
      const stager = stagerFor(to)
      if (stager === undefined) throw invalid(`no stager for locations like ${to.slice(0, 200)}`, 'unsupported')
      return stager.put(node, to)
    },
    named: (location) => stagerFor(location)?.named(location),
  }
}

/** The scheme of RFC 3986, 3.1; empty for a location without one. */
const schemeOf = (location: string): string => /^([a-z][a-z0-9+.-]*):/i.exec(location)?.[1]?.toLowerCase() ?? ''
