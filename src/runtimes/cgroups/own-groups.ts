import { existsSync, mkdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { tryRead, tryWrite } from '../processes/small-files.ts'
import { enter, pidsIn, tryRemove } from './group-files.ts'
import { type Hierarchy, hierarchiesOf } from './hierarchies.ts'

/** This worker's group in one hierarchy; its rooms' groups are below it. */
export interface OwnGroup {
  readonly version: 1 | 2
  /** The controllers that groups below it can use. */
  readonly controllers: readonly string[]
  readonly path: string
  /** The group that this process is in. */
  readonly home: string
}

/** The controllers of version 1 that we use; each may be a hierarchy of its own. */
const WANTED = ['memory', 'pids', 'cpu']
/** Counts processor time; version 2 always does. */
const COUNTING = 'cpuacct'

/**
 * Makes a group for this worker in each hierarchy that permits it. The group is below the one that the worker was
 * started in, so limits on the worker also apply to its rooms. Returns an empty list on other systems and without
 * permission (an ordinary user without a delegated group).
 */
export function ownGroups(name: string): OwnGroup[] {
  const mountinfo = tryRead('/proc/self/mountinfo')
  const membership = tryRead('/proc/self/cgroup')
  const all = hierarchiesOf(mountinfo, membership)
  const wanted = all.some(({ version }) => version === 2) ? WANTED : [...WANTED, COUNTING]
  return all
    .filter(({ version, controllers }) => version === 2 || controllers.some((each) => wanted.includes(each)))
    .flatMap((hierarchy) => ownGroup(hierarchy, `windlass-${name}`) ?? [])
}

/**
 * The group that the worker moves itself to in version 2, so that the parent group can enable controllers for its
 * children.
 */
const SUPERVISOR = 'windlass-supervisor'

function ownGroup(hierarchy: Hierarchy, name: string): OwnGroup | undefined {
  const { version, path: here } = hierarchy
  // A restarted spawner finds that its worker has already moved.
  const parent = version === 2 && basename(here) === SUPERVISOR ? dirname(here) : here
  const path = `${parent}/${name}`
  try {
    mkdirSync(path, { recursive: true })
    const home = version === 1 || parent !== here ? here : homeBelow(parent)
    const controllers = version === 1 ? hierarchy.controllers : passedOn(parent, path, home)
    mustBeEnterable(path, home)
    return { version, controllers, path, home }
  } catch {
    tryRemove(path) // removed, because it cannot be used and no later code removes it
    return undefined
  }
}

/** A group that can be made but not entered is useless; containers may have such groups. */
function mustBeEnterable(path: string, home: string): void {
  const inside = `${path}/probe`
  mkdirSync(inside, { recursive: true })
  try {
    enter(inside)
    enter(home)
  } finally {
    rmdirSync(inside)
  }
}

/**
 * In version 2 a group that contains processes cannot pass controllers to its children, except the root group ("no
 * internal processes" in cgroup-v2.rst). If only this worker is in the group, it moves one level down. If other
 * processes are in it, the group stays as it is and rooms have no limits.
 */
function homeBelow(path: string): string {
  if (isTopmost(path) || tryRead(`${path}/cgroup.controllers`).trim() === '') return path
  const pids = pidsIn(path)
  const ours = [Number(readlinkSync('/proc/self')), parentPid()]
  if (!pids.every((pid) => ours.includes(pid))) return path
  const supervisor = `${path}/${SUPERVISOR}`
  mkdirSync(supervisor, { recursive: true })
  for (const pid of pids) enter(supervisor, pid)
  return supervisor
}

/** Only the root group has no cgroup.type. A container's topmost group looks like a root from inside but has one. */
const isTopmost = (path: string): boolean => !existsSync(`${path}/cgroup.type`)

/** Some controllers can be enabled with processes in the group, but then no process could enter it again. */
function passedOn(parent: string, path: string, home: string): string[] {
  if (home === parent && !isTopmost(parent)) return []
  const available = tryRead(`${parent}/cgroup.controllers`).trim().split(/\s+/)
  return WANTED.filter(
    (each) =>
      available.includes(each) &&
      tryWrite(`${parent}/cgroup.subtree_control`, `+${each}`) &&
      tryWrite(`${path}/cgroup.subtree_control`, `+${each}`),
  )
}

/** Returns the parent's pid, after the program name. The name is in brackets and can contain brackets. */
function parentPid(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
