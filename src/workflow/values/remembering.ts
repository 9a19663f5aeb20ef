import type { Files, Stat } from './files.ts'

/** Caches the entry of each location: computing a checksum reads the whole file. Valid while no file changes. */
export function remembering(inner: Files): Files {
  const known = new Map<string, Promise<Stat | undefined>>()
  return {
    ...inner,
    stat(location) {
      const before = known.get(location)
      if (before !== undefined) return before
      const coming = inner.stat(location)
      known.set(location, coming)
      return coming
    },
  }
}
