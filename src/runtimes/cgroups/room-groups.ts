import { closeSync, mkdirSync, readdirSync, write } from 'node:fs'
import type { SendSignal } from '../processes/send-signal.ts'
import {
  cpuOf,
  enterBy,
  type GroupFolder,
  type GroupUsage,
  isEmpty,
  killAtOnce,
  limitCpus,
  limitMemory,
  limitPids,
  memoryKillsOf,
  openDoor,
  peakMemoryOf,
  pidsIn,
  pidsRefusedIn,
  tryRemove,
} from './group-files.ts'
import type { OwnGroup } from './own-groups.ts'

/**
 * Control groups for rooms: every process of a room is born in the room's group and cannot leave it, however it forks,
 * changes its session or its environment. So the group knows who is left to kill, counts what they used, and keeps
 * memory and processes within their limits.
 *
 * A process enters by birth: the one that starts it goes into the group, forks, and goes back (30 µs each way). That
 * needs no program in between, and leaves no moment in which the new process could fork outside.
 */
export interface RoomGroups {
  readonly memory: boolean
  readonly pids: boolean
  readonly cpus: boolean
  create(limits: GroupLimits): RoomGroup
  /** Moves this process to where it is; see `warmth.ts`. */
  stay(): Promise<void>
  /** Kills and removes whatever an earlier life of this worker left. */
  sweep(): void
  /** Removes the groups that hold the rooms' groups. */
  close(): void
}

export interface GroupLimits {
  readonly memoryBytes: number | undefined
  readonly pids: number | undefined
  readonly cpus?: number | undefined
}

export interface RoomGroup {
  /** Whether the kernel counts and limits its memory. */
  readonly keepsMemory: boolean
  /** What `start` forks is in the group. */
  bear<T>(start: () => T): T
  isEmpty(): boolean
  pids(): readonly number[]
  /** Sends the signal to end to all; they are gone only when `isEmpty` says so. */
  kill(): void
  usage(): GroupUsage
  /** Whether a process was killed for want of memory, and whether one was refused. */
  events(): { readonly outOfMemory: boolean; readonly pidsRefused: boolean }
  /** False while there is still somebody in it. */
  remove(): boolean
}

/** Groups that are made before they are needed: a tenth of a millisecond each that nobody waits for. */
const SPARE = 4

export function roomGroups(own: readonly OwnGroup[], send: SendSignal): RoomGroups {
  const has = (controller: string): boolean => own.some(({ controllers }) => controllers.includes(controller))
  const spare: GroupFolder[][] = []
  let count = 0
  let isClosed = false
  const homes = own.map(({ home }) => openDoor(home))
  // Few rooms have a share of processors laid down: for the others such a group would only be made and removed.
  const isAsked = own.map((group) => isForSharesOnly(group, own))
  const make = (): GroupFolder[] => made(own, homes, { name: `room-${++count}`, isLeftOut: isAsked })
  const makeShare = (): GroupFolder[] =>
    made(own, homes, { name: `share-${++count}`, isLeftOut: isAsked.map((each) => !each) })
  const makeSpare = (): void => {
    while (!isClosed && spare.length < SPARE) spare.push(make())
  }
  return {
    memory: has('memory'),
    pids: has('pids'),
    cpus: has('cpu'),
    create(limits) {
      const folders = spare.pop() ?? make()
      if (spare.length === 0) setImmediate(makeSpare)
      return roomGroup([...folders, ...(limits.cpus === undefined ? [] : makeShare())], limits, send)
    },
    // The first will do: what is to be warm is one for all hierarchies.
    stay: () => new Promise((resolve) => write(homes[0] as number, '0', () => resolve())),
    sweep() {
      for (const { version, path } of own)
        for (const name of foldersIn(path)) sweepOne({ version, path: `${path}/${name}` }, send)
    },
    close() {
      isClosed = true
      for (const door of [...spare.flat().map((folder) => folder.door), ...homes.splice(0)]) closeSync(door)
      for (const { path } of [...spare.splice(0).flat(), ...own]) tryRemove(path)
    },
  }
}

const isForSharesOnly = ({ version, controllers }: OwnGroup, all: readonly OwnGroup[]): boolean =>
  version === 1 &&
  controllers.includes('cpu') &&
  !controllers.some((each) => each === 'memory' || each === 'pids') &&
  (!controllers.includes('cpuacct') || all.some((other) => other.version === 2))

interface Making {
  readonly name: string
  readonly isLeftOut: readonly boolean[]
}

function made(own: readonly OwnGroup[], homes: readonly number[], { name, isLeftOut }: Making): GroupFolder[] {
  const folders: GroupFolder[] = []
  try {
    for (const [i, { version, controllers, path: parent }] of own.entries()) {
      if (isLeftOut[i] === true) continue
      const path = `${parent}/${name}`
      mkdirSync(path)
      folders.push({ version, controllers, path, door: openDoor(path), home: homes[i] as number })
    }
    return folders
  } catch (error) {
    for (const { path, door } of folders) {
      closeSync(door)
      tryRemove(path)
    }
    throw error
  }
}

function roomGroup(folders: readonly GroupFolder[], limits: GroupLimits, send: SendSignal): RoomGroup {
  const withOne = (controller: string) => folders.find(({ controllers }) => controllers.includes(controller))
  const memory = withOne('memory')
  const pids = withOne('pids')
  const cpu = withOne('cpu')
  const counting = folders.find(({ version }) => version === 2) ?? withOne('cpuacct')
  // Version 2 first: it kills at once and counts the dying.
  const census = folders.find(({ version }) => version === 2) ?? (folders[0] as GroupFolder)
  // Each move counts, so a group that is of no use this time is left empty.
  const used = [memory, counting, census, limits.pids && pids, limits.cpus && cpu]
  const entered = folders.filter((folder) => used.includes(folder))
  let isOpen = true
  let isTold = false
  const shut = (): void => {
    if (isOpen) for (const { door } of folders) closeSync(door)
    isOpen = false
  }
  if (memory !== undefined && limits.memoryBytes !== undefined) limitMemory(memory, limits.memoryBytes)
  if (cpu !== undefined && limits.cpus !== undefined) limitCpus(cpu, limits.cpus)
  return {
    keepsMemory: memory !== undefined,
    bear(start) {
      const { pids: most } = limits
      try {
        // Our own threads count as long as we are in there.
        if (pids !== undefined && most !== undefined) limitPids(pids, most + ownThreads())
        for (const { door } of entered) enterBy(door)
        return start()
      } finally {
        if (pids !== undefined && most !== undefined) {
          enterBy(pids.home)
          limitPids(pids, most)
        }
        for (const { home } of entered) enterBy(home)
        shut()
      }
    },
    isEmpty: () => isEmpty(census),
    pids: () => pidsIn(census.path),
    kill() {
      // The kernel's own word for it is heard by all, those being born included; it need not be said again.
      if (!isTold) isTold = killAll(census, send)
    },
    usage: () => ({
      ...(counting === undefined ? { cpuUserMs: undefined, cpuSystemMs: undefined } : cpuOf(counting)),
      peakMemoryBytes: memory && peakMemoryOf(memory),
    }),
    events: () => ({
      outOfMemory: memory !== undefined && memoryKillsOf(memory) > 0,
      pidsRefused: pids !== undefined && pidsRefusedIn(pids) > 0,
    }),
    remove() {
      shut()
      return folders.map(({ path }) => tryRemove(path)).every(Boolean)
    },
  }
}

const ownThreads = (): number => readdirSync('/proc/self/task').length

/** Where the kernel has no word for it, each is told; who forks meanwhile is met in the next round. */
function killAll(folder: Pick<GroupFolder, 'version' | 'path'>, send: SendSignal): boolean {
  if (killAtOnce(folder)) return true
  for (const pid of pidsIn(folder.path)) send(pid, 'SIGKILL')
  return false
}

/** A millisecond each, and there is nobody yet who would mind the wait; what is not gone then is swept next time. */
const SWEEP_ROUNDS = 1000

/** Dying takes a moment. */
function sweepOne(folder: Pick<GroupFolder, 'version' | 'path'>, send: SendSignal): void {
  const bell = new Int32Array(new SharedArrayBuffer(4))
  for (let round = 0; round < SWEEP_ROUNDS && !tryRemove(folder.path); round++) {
    killAll(folder, send)
    Atomics.wait(bell, 0, 0, 1) // nobody rings: this is how a thread sleeps
  }
}

function foldersIn(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}
