import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { nameParts } from '../workflow/values/file-value.ts'
import type { LocalFiles } from './files/local-files.ts'

/** Names in the output directory, each assigned once. */
export interface Places {
  /** A folder for a file and its secondary files, and the name of each in it. */
  reserve(group: readonly PlaceRequest[]): ReservedPlace
}

export interface PlaceRequest {
  readonly name: string
  /** The current path; undefined for a literal. */
  readonly source: string | undefined
  readonly isDirectory: boolean
}

export interface ReservedPlace {
  readonly folder: string
  nameOf(requested: string): string
}

/**
 * The first request for a name gets it. After that a single file becomes `name_2.txt`, and a file with secondary files
 * gets a folder, where all keep their names. A file of an earlier run is replaced and a directory is merged into; an
 * input of this run is not overwritten.
 */
export function openPlaces(outdir: string, files: LocalFiles): Places {
  const given = new Set<string>()
  /** The next number to try: a scatter of ten thousand may request the same name ten thousand times. */
  const turns = new Map<string, number>()
  const isFree = (request: PlaceRequest, folder: string): boolean => {
    const path = join(folder, request.name)
    return !given.has(path) && (path === request.source || isReplaceable(path, request, files))
  }
  /** The group's names at the n-th attempt, or undefined when one is taken. */
  const settle = (group: readonly PlaceRequest[], turn: number): ReservedPlace | undefined => {
    const isAlone = group.length === 1
    const folder = turn === 1 || isAlone ? outdir : join(outdir, String(turn))
    const nameOf = (requested: string): string => (turn === 1 || !isAlone ? requested : numbered(requested, turn))
    const renamed = group.map((request) => ({ ...request, name: nameOf(request.name) }))
    if (!renamed.every((request) => isFree(request, folder))) return undefined
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
