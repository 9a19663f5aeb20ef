import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { cpuOf, type GroupFolder, memoryKillsOf, peakMemoryOf, pidsIn, pidsRefusedIn } from '../cgroups/group-files.ts'
import { hierarchiesOf } from '../cgroups/hierarchies.ts'
import type { ProcessTree } from '../launcher/process-tree.ts'
import { tryRead, tryWrite } from '../processes/small-files.ts'

/**
 * Control groups around containers. An engine removes a container's group as soon as the container ends, and the
 * kernel's counters with it; our group around it stays until we have read it. It is made at the root of the hierarchy
 * because an engine accepts one path for all hierarchies; so this works only for root, and only with the cgroupfs
 * driver.
 */
export interface ContainerGroups {
  /** The path of the container's parent group, as passed to the engine. */
  pathOf(name: string): string
  /** Makes the group and returns a view of its processes. */
  around(name: string, limits: AroundLimits): ContainerTree
  /** Removes groups that an earlier process of this worker left behind. */
  sweep(): void
  /** Returns false while a process is still in one. */
  close(): boolean
}

export interface ContainerTree extends ProcessTree {
  /** The memory usage reached the limit, so a killed process was killed for lack of memory. */
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
  // Podman's conmon is in the group and exits a moment after its container.
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

/**
 * The engine enables controllers only when it makes the container's group, which is too late for settings of the group
 * around it.
 */
function passMemoryOn(paths: readonly string[]): void {
  for (const path of paths) tryWrite(`${path}/cgroup.subtree_control`, '+memory')
}

/** Docker in the topmost group reports that swap cannot be limited. */
function keepFromSwap({ version, path }: Place): void {
  if (version === 2) tryWrite(`${path}/memory.swap.max`, '0')
}

/** Returns the root of each hierarchy, as this process sees it. */
function hierarchyRoots(): Place[] {
  const mountinfo = tryRead('/proc/self/mountinfo')
  // Parses the mounts as if this process were in the root group. Mounts without their root are left out.
  const membership = tryRead('/proc/self/cgroup').replace(/^(\d+:[^:]*):.*$/gm, '$1:/')
  const all = hierarchiesOf(mountinfo, membership)
  return all.filter(({ path }, i) => all.findIndex((other) => other.path === path) === i)
}

/**
 * Reads the group around a container. In version 2 events of child groups also count in the parent. In version 1 only
 * usage does: out-of-memory kills and refused forks are read from the child while it exists, or inferred from a peak
 * that reached the limit.
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
    // Set for counters that only the inner group has: they disappear with that group.
    needsLooks: limits.pids !== undefined || limits.memoryBytes !== undefined,
    isEmpty: () => everyone().length === 0,
    pids: everyone,
    kill: () => {}, // the engine kills its own group
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

/** The kernel counts in batches of pages per processor, so usage can stay slightly below the limit. */
const SLACK_BYTES = 1 << 20

const isFull = (memory: GroupFolder, limit: number | undefined): boolean =>
  memory.version === 1 &&
  limit !== undefined &&
  (peakMemoryOf(memory) ?? 0) >= limit - Math.min(SLACK_BYTES, limit / 16)

/** A cgroup directory has no removable files; a group that contains processes stays. */
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
