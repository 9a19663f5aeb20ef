import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { killMarked, markedProcesses, statOf } from '../processes/marked-processes.ts'
import { isDead, type RoomInit } from '../processes/room-init.ts'
import type { SendSignal } from '../processes/send-signal.ts'
import { tryRead } from '../processes/small-files.ts'

/**
 * The processes that rooms began with, on disk: so the next launcher of this folder can end rooms that outlived the last one.
 * One file of lines of one length, a line for each launch under way: writing one takes some microseconds. It is not synced: a
 * machine that crashes ends the processes, too.
 */
export interface LaunchRecords {
  open(): LaunchRecord
  close(): void
}

export interface LaunchRecord {
  /** The first process of the launch, outside of the room. */
  leader(process: RoomInit): void
  init(init: RoomInit): void
  /** All of them are dead. */
  remove(): void
}

const FILE = 'launches'
const LINE_BYTES = 64
const BOOT = '/proc/sys/kernel/random/boot_id'
const NOBODY: RoomInit = { pid: 0, startedAt: 0 }

/** What an earlier launcher left in the file is forgotten: sweep first. */
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
      let [leader, init] = [NOBODY, NOBODY]
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

/** A millisecond each; what is not dead then is beyond our reach. */
const SWEEP_ROUNDS = 2000

/** Ends what a launcher of this folder has left, and waits for it. Pids of an earlier life of the machine are others' now. */
export function sweepRecords(folder: string, send: SendSignal): void {
  const [boot, ...lines] = tryRead(join(folder, FILE)).split('\n')
  if (boot === undefined || boot.trim() !== tryRead(BOOT).trim()) return
  const records = lines.flatMap((line) => recordIn(line) ?? [])
  for (const { init } of records) if (!isDead(init)) send(init.pid, 'SIGKILL')
  for (const { leader } of records) sweepSession(leader, send)
  const bell = new Int32Array(new SharedArrayBuffer(4))
  for (let round = 0; round < SWEEP_ROUNDS && !records.every(({ init }) => isDead(init)); round++)
    Atomics.wait(bell, 0, 0, 1) // nobody rings: this is how a thread sleeps
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
 * Ends the session of a launch without a pid namespace. The kernel does not give a pid away while it names a session, so a
 * process that has it now, and is not the leader, shows that the session is over.
 */
function sweepSession(leader: RoomInit, send: SendSignal): void {
  if (leader.pid === 0) return
  const now = statOf(leader.pid)
  if (now !== undefined && now.startedAt !== leader.startedAt) return
  const tree = { mark: undefined, leader: leader.pid, since: leader.startedAt }
  for (let round = 0; round < 5 && markedProcesses(tree).length > 0; round++) killMarked(tree, send)
}
