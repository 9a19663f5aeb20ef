import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { killMarked, markedProcesses, statOf } from '../processes/marked-processes.ts'
import { isDead, type RoomInit } from '../processes/room-init.ts'
import type { SendSignal } from '../processes/send-signal.ts'
import { tryRead } from '../processes/small-files.ts'

/**
 * Records the first processes of running launches on disk, so that the next launcher of this folder can kill those that
 * survived. One file with lines of equal length, one per launch: a write takes microseconds. No fsync: a machine crash
 * also ends the processes.
 */
export interface LaunchRecords {
  open(): LaunchRecord
  close(): void
}

export interface LaunchRecord {
  /** The first process of the launch, outside the room. */
  leader(process: RoomInit): void
  init(init: RoomInit): void
  /** Called when all its processes are dead. */
  remove(): void
}

const FILE = 'launches'
const LINE_BYTES = 64
const BOOT = '/proc/sys/kernel/random/boot_id'
const NO_PROCESS: RoomInit = { pid: 0, startedAt: 0 }

/** Discards the records of an earlier launcher: sweep first. */
export function launchRecords(folder: string): LaunchRecords {
  const fd = openSync(join(folder, FILE), 'w', 0o600)
  const free: number[] = []
  let lines = 0
  const write = (line: number, text: string): void => {
    writeSync(fd, `${text.padEnd(LINE_BYTES - 1)}\n`, line * LINE_BYTES, 'latin1')
  }
  write(lines++, tryRead(BOOT).trim())
  return {
    open() {
      const line = free.pop() ?? lines++
      let [leader, init] = [NO_PROCESS, NO_PROCESS]
      const put = (): void => write(line, [leader, init].map(({ pid, startedAt }) => `${pid} ${startedAt}`).join(' '))
      return {
        leader(process) {
          leader = process
          put()
        },
        init(process) {
          init = process
          put()
        },
        remove() {
          write(line, '')
          free.push(line)
        },
      }
    },
    close: () => closeSync(fd),
  }
}

/** Each round waits 1 ms; processes that are alive afterwards cannot be killed. */
const SWEEP_ROUNDS = 2000

/**
 * Kills the processes that an earlier launcher of this folder left, and waits until they are dead. Pids from before a
 * reboot are ignored: other processes have them now.
 */
export function sweepRecords(folder: string, send: SendSignal): void {
  const [boot, ...lines] = tryRead(join(folder, FILE)).split('\n')
  if (boot === undefined || boot.trim() !== tryRead(BOOT).trim()) return
  const records = lines.flatMap((line) => recordIn(line) ?? [])
  for (const { init } of records) if (!isDead(init)) send(init.pid, 'SIGKILL')
  for (const { leader } of records) sweepSession(leader, send)
  const sleep = new Int32Array(new SharedArrayBuffer(4))
  for (let round = 0; round < SWEEP_ROUNDS && !records.every(({ init }) => isDead(init)); round++)
    Atomics.wait(sleep, 0, 0, 1) // sleeps for 1 ms: no other thread ever notifies this address
}

function recordIn(line: string): { readonly leader: RoomInit; readonly init: RoomInit } | undefined {
  const [leader, leaderStart, init, initStart] = line.trim().split(' ').map(Number)
  if (leader === undefined || initStart === undefined) return undefined
  return {
    leader: { pid: leader, startedAt: leaderStart as number },
    init: { pid: init as number, startedAt: initStart },
  }
}

/**
 * Kills the session of a launch without a pid namespace. The kernel does not reuse a pid while it names a session. So
 * if the pid belongs to a process that is not the session's leader, the session has ended.
 */
function sweepSession(leader: RoomInit, send: SendSignal): void {
  if (leader.pid === 0) return
  const now = statOf(leader.pid)
  if (now !== undefined && now.startedAt !== leader.startedAt) return
  const tree = { mark: undefined, leader: leader.pid, since: leader.startedAt }
  for (let round = 0; round < 5 && markedProcesses(tree).length > 0; round++) killMarked(tree, send)
}
