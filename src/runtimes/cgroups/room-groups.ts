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
 * Control groups for rooms: every process of a room starts in the room's group and cannot leave it, however it forks or
 * changes its session or environment. So the group lists the processes to kill, counts their usage, and limits memory
 * and processes. The launcher moves itself into the group, forks, and moves back (30 µs each way). This needs no helper
 * program, and the new process never runs outside the group.
 */
export interface RoomGroups {
  readonly memory: boolean
  readonly pids: boolean
  readonly cpus: boolean
  create(limits: GroupLimits): RoomGroup
  /** Moves this process to the group it is already in; see `warmth.ts`. */
  stay(): Promise<void>
  /** Kills and removes the groups that an earlier process of this worker left behind. */
  sweep(): void
  /** Removes the groups that contain the rooms' groups. */
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
  /** Runs `start` so that the processes it forks are in the group. */
  forkInside<T>(start: () => T): T
  isEmpty(): boolean
  pids(): readonly number[]
  /** Sends SIGKILL to all processes; they are gone only when `isEmpty` returns true. */
  kill(): void
  usage(): GroupUsage
  /** Whether the kernel killed a process for lack of memory, and whether it refused a fork. */
  events(): { readonly outOfMemory: boolean; readonly pidsRefused: boolean }
  /** Returns false while a process is still in it. */
  remove(): boolean
}

/** Groups made in advance, so that no run waits the 0.1 ms that making one takes. */
const SPARE = 4

export function roomGroups(own: readonly OwnGroup[], send: SendSignal): RoomGroups {
  const has = (controller: string): boolean => own.some(({ controllers }) => controllers.includes(controller))
  const spare: GroupFolder[][] = []
  let count = 0
  let isClosed = false
  const homes = own.map(({ home }) => openDoor(home))
  // Few runs limit CPU, so a group that is only for CPU limits is made on request.
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
    // One hierarchy is enough: the kernel's state is shared by all hierarchies.
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
  // Prefer version 2: it kills all processes at once and counts exiting ones.
  const census = folders.find(({ version }) => version === 2) ?? (folders[0] as GroupFolder)
  // Each move costs time, so groups that this run does not need stay empty.
  const used = [memory, counting, census, limits.pids && pids, limits.cpus && cpu]
  const entered = folders.filter((folder) => used.includes(folder))
  let isOpen = true
  let isKilled = false
  const shut = (): void => {
    if (isOpen) for (const { door } of folders) closeSync(door)
    isOpen = false
  }
  if (memory !== undefined && limits.memoryBytes !== undefined) limitMemory(memory, limits.memoryBytes)
  if (cpu !== undefined && limits.cpus !== undefined) limitCpus(cpu, limits.cpus)
  return {
    keepsMemory: memory !== undefined,
    forkInside(start) {
      const { pids: most } = limits
      try {
        // Our own threads count while this process is in the group.
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
      // cgroup.kill reaches all processes, including new forks, so it is written only once.
      if (!isKilled) isKilled = killAll(census, send)
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

/** Without cgroup.kill each process is killed by its pid; processes that fork meanwhile are found in the next round. */
function killAll(folder: Pick<GroupFolder, 'version' | 'path'>, send: SendSignal): boolean {
  if (killAtOnce(folder)) return true
  for (const pid of pidsIn(folder.path)) send(pid, 'SIGKILL')
  return false
}

/**
 * Each round waits 1 ms, at startup, when no run waits. Groups that still exist afterwards are removed at the next
 * start.
 */
const SWEEP_ROUNDS = 1000

/** Waits until the processes have exited. */
function sweepOne(folder: Pick<GroupFolder, 'version' | 'path'>, send: SendSignal): void {
  const sleep = new Int32Array(new SharedArrayBuffer(4))
  for (let round = 0; round < SWEEP_ROUNDS && !tryRemove(folder.path); round++) {
    killAll(folder, send)
    Atomics.wait(sleep, 0, 0, 1) // sleeps for 1 ms: no other thread ever notifies this address
  }
}

function foldersIn(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}
