import type { Clock } from '../../base/clock.ts'
import { ownGroups } from '../cgroups/own-groups.ts'
import { type RoomGroups, roomGroups } from '../cgroups/room-groups.ts'
import { Warmth } from '../cgroups/warmth.ts'
import { markedSince } from '../processes/marked-processes.ts'
import type { SendSignal } from '../processes/send-signal.ts'
import { launchRecords, sweepRecords } from './launch-records.ts'
import type { Launch, Launcher, LauncherFacts } from './launcher.ts'
import { type LaunchTools, LocalLaunch } from './local-launch.ts'
import { pipePool } from './pipe-pool.ts'

export interface LocalLauncherOptions {
  /** The worker's name, unique on this machine: every process under it is ours to kill. */
  readonly name: string
  /** A folder that only this launcher uses. */
  readonly folder: string
  /** Whether to use control groups where possible. */
  readonly useGroups: boolean
  /** A clock whose timers keep the spawner process alive: it must not exit before it has killed its processes. */
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly send: SendSignal
}

/**
 * Starts processes from this process. The cost of a fork grows with the memory of the forking process, because its page
 * tables are copied. So a worker starts processes from a small child process: see `spawner/`.
 */
export function localLauncher(options: LocalLauncherOptions): Launcher {
  const { clock } = options
  const send = forgiving(options.send)
  const markerPrefix = `${options.name}/`
  sweep({ ...options, send })
  const groups = options.useGroups ? groupsOf(options.name, send) : undefined
  const tools: LaunchTools = {
    groups,
    warmth:
      groups &&
      new Warmth(
        () => groups.stay(),
        (ms, callback) => clock.after(ms, callback),
      ),
    pipes: pipePool(options.folder),
    records: launchRecords(options.folder),
    after: (ms, callback) => clock.after(ms, callback),
    monotonic: () => clock.monotonic(),
    pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    send,
    markerPrefix,
  }
  const running = new Set<LocalLaunch>()
  return {
    facts: async () => factsOf(tools),
    expect: () => tools.warmth?.expect(),
    start(order, listener): Launch {
      const launch = new LocalLaunch(order, tools, listener)
      running.add(launch)
      void launch.over.then(() => running.delete(launch))
      launch.begin()
      return launch
    },
    async close() {
      for (const launch of running) launch.stop()
      await Promise.all([...running].map((launch) => launch.over))
      tools.warmth?.close()
      groups?.close()
      tools.records.close()
      await tools.pipes.close()
    },
  }
}

/** Kills processes that were started under this name and have lost their launcher. */
export function sweep(options: Pick<LocalLauncherOptions, 'name' | 'folder' | 'send' | 'useGroups'>): void {
  const send = forgiving(options.send)
  sweepRecords(options.folder, send)
  if (options.useGroups) {
    const groups = groupsOf(options.name, send)
    groups?.sweep()
    groups?.close()
    if (groups !== undefined) return
  }
  // Killed processes may have forked a moment before.
  for (let round = 0; round < 5; round++) {
    const left = markedSince(`${options.name}/`)
    if (left.length === 0) return
    for (const pid of left) send(pid, 'SIGKILL')
  }
}

function groupsOf(name: string, send: SendSignal): RoomGroups | undefined {
  const own = ownGroups(name)
  return own.length === 0 ? undefined : roomGroups(own, send)
}

const factsOf = ({ groups, pipes }: LaunchTools): LauncherFacts => ({
  tree: groups === undefined ? 'marker' : 'group',
  memory: groups?.memory === true ? 'all' : 'watched',
  pids: groups?.pids === true ? 'all' : 'not',
  cpus: groups?.cpus === true ? 'all' : 'not',
  pipes: pipes.isAvailable,
})

/** Ignores errors: a process that is already dead needs no signal. */
const forgiving =
  (send: SendSignal): SendSignal =>
  (pid, signal) => {
    try {
      send(pid, signal)
    } catch {
      // the process is dead, or the pid belongs to another user's process
    }
  }
