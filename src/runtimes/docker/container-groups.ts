import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { cpuOf, type GroupFolder, memoryKillsOf, peakMemoryOf, pidsIn, pidsRefusedIn } from '../cgroups/group-files.ts'
import { hierarchiesOf } from '../cgroups/hierarchies.ts'
import type { ProcessTree } from '../launcher/process-tree.ts'
import { tryRead, tryWrite } from '../processes/small-files.ts'

/**
 * Control groups to make containers in. An engine removes the group of a container as soon as it has ended, and with it all that the
 * kernel has counted; a group of ours around it stays until we have read it. Made at the root, for an engine is told one path for
 * all hierarchies; so by root only, and only where the engine deals in plain paths.
 */
export interface ContainerGroups {
  /** The group for a container, as the engine is told. */
  pathOf(name: string): string
  /** Makes it, and answers what is to be seen of it. */
  around(name: string, limits: AroundLimits): ContainerTree
  /** Removes what an earlier life of this worker left. */
  sweep(): void
  /** False while there is still somebody in one. */
  close(): boolean
}

export interface ContainerTree extends ProcessTree {
  /** Its memory came up to the limit: who was killed then was killed for that. */
  wasFull(): boolean
}

export interface AroundLimits {
  readonly memoryBytes: number | undefined
  readonly pids: number | undefined
}

interface Place {
  readonly version: 1 | 2
  readonly controllers: readonly string[]
  readonly path: string
}

export function containerGroups(worker: string): ContainerGroups | undefined {
  const parent = `/windlass-containers-${worker}`
  const roots = hierarchyRoots()
  const isCounting = roots.some(({ version, controllers }) => version === 2 || controllers.includes('memory'))
  if (!isCounting || !roots.every(({ path }) => canMake(path + parent))) {
    for (const { path } of roots) tryRemove(path + parent)
    return undefined
  }
  for (const { version, path } of roots) if (version === 2) passMemoryOn([path, path + parent])
  // Podman has a process of its own in there, which ends a moment after its container.
  const lingering = new Set<string>()
  const removeAt = (path: string): boolean => {
    const isGone = removeTree(path)
    if (isGone) lingering.delete(path)
    else lingering.add(path)
    return isGone
  }
  return {
    pathOf: (name) => `${parent}/${name}`,
    around(name, limits) {
      for (const path of lingering) removeAt(path)
      const places = roots.map((root) => ({ ...root, path: `${root.path}${parent}/${name}` }))
      for (const place of places) mkdirSync(place.path, { recursive: true })
      if (limits.memoryBytes !== undefined) for (const place of places) keepFromSwap(place)
      const remove = (): boolean => places.map(({ path }) => removeAt(path)).every(Boolean)
      return { ...containerTree(places, limits), remove }
    },
    sweep() {
      for (const { path } of roots) for (const name of foldersIn(path + parent)) removeAt(`${path}${parent}/${name}`)
    },
    close: () => roots.map(({ path }) => removeTree(path + parent)).every(Boolean),
  }
}

/** An engine would do it, but only when it makes the group of a container, and that is too late to say anything around it. */
function passMemoryOn(paths: readonly string[]): void {
  for (const path of paths) tryWrite(`${path}/cgroup.subtree_control`, '+memory')
}

/** Docker that is itself in the topmost group takes swap for something that cannot be limited. */
function keepFromSwap({ version, path }: Place): void {
  if (version === 2) tryWrite(`${path}/memory.swap.max`, '0')
}

/** With nothing in them: of each hierarchy the top, as it is seen from here. */
function hierarchyRoots(): Place[] {
  const mountinfo = tryRead('/proc/self/mountinfo')
  // As if we were at the top ourselves; what is mounted without its top is left out by that.
  const membership = tryRead('/proc/self/cgroup').replace(/^(\d+:[^:]*):.*$/gm, '$1:/')
  const all = hierarchiesOf(mountinfo, membership)
  return all.filter(({ path }, i) => all.findIndex((other) => other.path === path) === i)
}

/**
 * Reads the group around a container. In version 2 what happens below is counted above as well; in version 1 only use is: kills
 * for want of memory and refusals are seen by who looks in time, or are guessed from a peak that came up to the limit.
 */
function containerTree(places: readonly Place[], limits: AroundLimits): Omit<ContainerTree, 'remove'> {
  const folders = places.map((place): GroupFolder => ({ ...place, door: -1, home: -1 }))
  const unified = folders.find(({ version }) => version === 2)
  const withOne = (controller: string): GroupFolder | undefined =>
    folders.find(({ version, controllers }) => version === 1 && controllers.includes(controller)) ?? unified
  const [memory, pids, cpu] = [withOne('memory'), withOne('pids'), withOne('cpuacct')]
  const census = pids ?? (folders[0] as GroupFolder)
  let [wasRefused, wasShort] = [false, false]
  const within = ({ path }: GroupFolder): string[] => [path, ...foldersIn(path).map((name) => `${path}/${name}`)]
  const listen = (): void => {
    if (pids !== undefined) wasRefused ||= within(pids).some((path) => pidsRefusedIn({ ...pids, path }) > 0)
    if (memory !== undefined) wasShort ||= within(memory).some((path) => memoryKillsOf({ ...memory, path }) > 0)
  }
  const usage = () => ({
    ...(cpu === undefined ? { cpuUserMs: undefined, cpuSystemMs: undefined } : cpuOf(cpu)),
    peakMemoryBytes: memory && peakMemoryOf(memory),
  })
  const everyone = (): number[] => within(census).flatMap(pidsIn)
  return {
    // For what is told by the inner group alone, and goes with it.
    needsLooks: limits.pids !== undefined || limits.memoryBytes !== undefined,
    isEmpty: () => everyone().length === 0,
    pids: everyone,
    kill: () => {}, // the engine's part
    look() {
      listen()
      const { cpuUserMs = 0, cpuSystemMs = 0 } = usage()
      return { cpuMs: cpuUserMs + cpuSystemMs, memoryBytes: 0 }
    },
    total: () => ({ ...usage(), how: 'counted' }),
    events() {
      listen()
      return { outOfMemory: wasShort, pidsRefused: wasRefused }
    },
    wasFull: () => memory !== undefined && isFull(memory, limits.memoryBytes),
  }
}

/** Counting goes by handfuls of pages for each processor. */
const SLACK_BYTES = 1 << 20

const isFull = (memory: GroupFolder, limit: number | undefined): boolean =>
  memory.version === 1 &&
  limit !== undefined &&
  (peakMemoryOf(memory) ?? 0) >= limit - Math.min(SLACK_BYTES, limit / 16)

/** Groups have no files that could be removed, and one with somebody in it stays. */
function removeTree(path: string): boolean {
  for (const name of foldersIn(path)) removeTree(`${path}/${name}`)
  return tryRemove(path)
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  } catch {
    return []
  }
}

function canMake(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true })
    return true
  } catch {
    return false
  }
}

function tryRemove(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
