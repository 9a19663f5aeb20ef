import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { nameParts } from '../workflow/values/file-value.ts'
import type { LocalFiles } from './files/local-files.ts'

/** Names in the output directory, each given away once. */
export interface Places {
  /** A folder for a group that belongs together, and the name that each has in it. */
  reserve(group: readonly PlaceRequest[]): ReservedPlace
}

export interface PlaceRequest {
  readonly name: string
  /** Where it is now; undefined for a literal. */
  readonly source: string | undefined
  readonly isDirectory: boolean
}

export interface ReservedPlace {
  readonly folder: string
  nameOf(wished: string): string
}

/**
 * The first to ask for a name gets it. After that a single file is `name_2.txt`, and a file with others that belong to
 * it goes to a folder of its own, where all can keep their names. A file that lies there from an earlier run is replaced
 * and a directory is added to; an input of this run is left alone.
 */
export function openPlaces(outdir: string, files: LocalFiles): Places {
  const given = new Set<string>()
  /** Where to begin: a scatter of ten thousand may want the same name ten thousand times. */
  const turns = new Map<string, number>()
  const isFree = (wish: PlaceRequest, folder: string): boolean => {
    const path = join(folder, wish.name)
    return !given.has(path) && (path === wish.source || isReplaceable(path, wish, files))
  }
  /** The group as it would be in its so manieth turn, or undefined when something is in the way. */
  const settle = (group: readonly PlaceRequest[], turn: number): ReservedPlace | undefined => {
    const isAlone = group.length === 1
    const folder = turn === 1 || isAlone ? outdir : join(outdir, String(turn))
    const nameOf = (wished: string): string => (turn === 1 || !isAlone ? wished : numbered(wished, turn))
    const renamed = group.map((wish) => ({ ...wish, name: nameOf(wish.name) }))
    if (!renamed.every((wish) => isFree(wish, folder))) return undefined
    for (const { name } of renamed) given.add(join(folder, name))
    return { folder, nameOf }
  }
  return {
    reserve(group) {
      const key = `${group.length === 1} ${group[0]?.name}`
      for (let turn = turns.get(key) ?? 1; ; turn += 1) {
        const place = settle(group, turn)
        if (place === undefined) continue
        turns.set(key, turn)
        mkdirSync(place.folder, { recursive: true })
        return place
      }
    },
  }
}

function numbered(name: string, turn: number): string {
  const { nameroot, nameext } = nameParts(name)
  return `${nameroot}_${turn}${nameext}`
}

function isReplaceable(path: string, { isDirectory }: PlaceRequest, files: LocalFiles): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return true
  return stats.isDirectory() === isDirectory && !files.isAdmitted(path)
}
