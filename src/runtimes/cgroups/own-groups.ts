import { existsSync, mkdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { tryRead, tryWrite } from '../processes/small-files.ts'
import { enter, pidsIn, tryRemove } from './group-files.ts'
import { type Hierarchy, hierarchiesOf } from './hierarchies.ts'

/** The group of this worker in one hierarchy; those of its rooms are below. */
export interface OwnGroup {
  readonly version: 1 | 2
  /** What groups below it can be limited in or counted by. */
  readonly controllers: readonly string[]
  readonly path: string
  /** The group that this process is in. */
  readonly home: string
}

/** Of version 1, where each may be a hierarchy of its own: those that we have a use for. */
const WANTED = ['memory', 'pids', 'cpu']
/** And to count processor time, which version 2 does without being asked. */
const COUNTING = 'cpuacct'

/**
 * Makes a group for this worker wherever it may, below the group that it was itself put in: limits that were laid on
 * the worker from outside hold for its rooms too. Empty where nothing can be made: on another system, or without the
 * right to (an ordinary user who was not given a group of their own).
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

/** Where this worker moves itself in version 2, so that the group above it is free to pass controllers on. */
const SUPERVISOR = 'windlass-supervisor'

function ownGroup(hierarchy: Hierarchy, name: string): OwnGroup | undefined {
  const { version, path: here } = hierarchy
  // A spawner that takes the place of a dead one finds its worker moved already.
  const parent = version === 2 && basename(here) === SUPERVISOR ? dirname(here) : here
  const path = `${parent}/${name}`
  try {
    mkdirSync(path, { recursive: true })
    const home = version === 1 || parent !== here ? here : homeBelow(parent)
    const controllers = version === 1 ? hierarchy.controllers : passedOn(parent, path, home)
    mustBeEnterable(path, home)
    return { version, controllers, path, home }
  } catch {
    tryRemove(path) // of no use: nobody would remove it later
    return undefined
  }
}

/** A directory that can be made but not entered is of no use: a group in a container may be like that. */
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
 * In version 2 a group with processes in it passes no controllers on to groups below (but for the topmost). If nobody is
 * in ours but this worker, they move one level down; a group that others live in is left as it is, and rooms do without limits.
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

/** The only one without a type. That of a container is topmost to whoever is in there, and not to the kernel. */
const isTopmost = (path: string): boolean => !existsSync(`${path}/cgroup.type`)

/** Some controllers would be passed on by a group with processes in it, but nobody could enter it again after that. */
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

/** The name of a program comes in brackets before it, and may have brackets in it. */
function parentPid(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
