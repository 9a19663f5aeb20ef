import type { Clock } from '../../base/clock.ts'
import type { EnvVariable } from '../../model/command.ts'
import type { Launcher, LauncherFacts, LaunchSpec } from '../launcher/launcher.ts'
import type { RoomNetworks } from '../network/room-networks.ts'
import { firstRunnable } from '../run/first-runnable.ts'
import { launchRun } from '../run/launch-run.ts'
import { mismatch } from '../run/mismatch.ts'
import { mustBeName, mustBeRunnable, programProblem, workingDirectoryOf } from '../run/program.ts'
import { foldersOf, launchLimits, limitedArgv } from '../run/resource-limits.ts'
import { cancelledBeforeStart, notStarted, runEnd } from '../run/run-end.ts'
import type { KeptLimits, Room, Run, RunCommand, RunEnd, Runtime, RuntimeProbe } from '../run/runtime.ts'
import { argvInTerminal, TERMINAL_PROCESSES } from '../terminal/terminal-argv.ts'

export interface BareOptions {
  readonly launcher: Launcher
  readonly clock: Clock
  /** Default environment variables; the worker's own environment is not passed on. */
  readonly env: readonly EnvVariable[]
  /** The user that commands run as; undefined for the worker's own user. Only root can choose another. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  /** The limit of each stream when the command has none. */
  readonly outputBytes: number
  /** A bare room uses the machine's network, so it is offered only where the operator grants that. */
  readonly networks?: Pick<RoomNetworks, 'isMachine'>
}

/**
 * Runs commands directly on this machine: they see its files, network and processes. The command gets only its own
 * environment, and no process outlives the run. Output and time are limited, and so is everything else that the machine
 * can limit. For trusted commands only.
 */
export function bareRuntime(options: BareOptions): Runtime {
  const { launcher, clock } = options
  const prlimit = firstRunnable('prlimit')
  return {
    name: 'bare',
    async probe() {
      try {
        return probeOf(await launcher.facts(), await prlimit, options)
      } catch (error) {
        return { works: false, reason: error instanceof Error ? error.message : String(error) }
      }
    },
    expect: () => launcher.expect(),
    async run(run, signal): Promise<RunEnd> {
      const { command, room, limits, hooks } = run
      mustBeRunnable(command)
      mustBeName(room.name)
      if (room.rootfs !== undefined) throw mismatch('a bare room can only use the root file system of the machine')
      const cwd = workingDirectoryOf(command, room)
      const env = environmentOf(command, room, options.env)
      const problem = programProblem(command.argv[0] as string, cwd, env.get('PATH'))
      if (problem !== undefined) return notStarted(problem.code, problem.what)
      const argv = limitedArgv(await prlimit, argvInTerminal(run, env, {}), limits)
      if (signal.aborted) return cancelledBeforeStart
      const order = orderOf(run, { argv, env, cwd, options })
      return runEnd(await launchRun({ launcher, clock, order, wallMs: limits.wallMs, hooks }, signal), limits)
    },
  }
}

const NO_NETWORK =
  'commands without a room have the network of the machine: set mode = "host" under [execution.network] to offer that'

interface OrderParts {
  readonly argv: readonly string[]
  readonly env: ReadonlyMap<string, string>
  readonly cwd: string
  readonly options: BareOptions
}

const orderOf = ({ room, limits, hooks, terminal }: Run, { argv, env, cwd, options }: OrderParts): LaunchSpec => ({
  name: room.name,
  argv,
  env: [...env],
  cwd,
  user: room.user ?? options.user,
  hasInput: hooks.stdin !== undefined,
  outputBytes: limits.outputBytes ?? options.outputBytes,
  limits: {
    ...launchLimits(limits),
    ...(limits.pids !== undefined && terminal && { pids: limits.pids + TERMINAL_PROCESSES }),
  },
  folders: foldersOf(room),
  hasTerminal: terminal !== undefined,
})

/** The command's variables override the defaults. */
function environmentOf({ env }: RunCommand, { tmp }: Room, defaults: readonly EnvVariable[]): Map<string, string> {
  const all = [...defaults, ...(tmp === undefined ? [] : [{ name: 'TMPDIR', value: tmp }]), ...env]
  return new Map(all.map(({ name, value }) => [name, value]))
}

function probeOf(facts: LauncherFacts, prlimit: string | undefined, { user, networks }: BareOptions): RuntimeProbe {
  const each = prlimit === undefined ? 'not' : 'each'
  const limits: KeptLimits = {
    wallMs: 'all',
    cpuMs: 'watched',
    memoryBytes: facts.memory,
    pids: facts.pids,
    fileBytes: each,
    outputBytes: 'all',
    openFiles: each,
    diskBytes: 'watched',
    outputFloodBytes: 'all',
    cpus: facts.cpus,
  }
  const notes = [
    facts.tree === 'marker' &&
      'no control groups: a process that leaves its session and clears its environment outlives its run',
    facts.memory === 'watched' && 'memory is sampled: short peaks are missed',
    facts.pids === 'not' && 'the number of processes is not limited',
    facts.cpus === 'not' && 'a share of processors cannot be limited',
    prlimit === undefined && 'no prlimit: file size and open files are not limited',
    !facts.pipes && 'no mkfifo: output goes through sockets, and commands cannot open /dev/stdout',
    user === undefined && 'commands run as the user of the worker',
  ].filter((note) => note !== false)
  const keeps = { network: false, readOnly: false, rootfs: false, control: true, terminal: true }
  const networkProblem = async () => (networks?.isMachine === true ? undefined : NO_NETWORK)
  return { works: true, isolation: 'none', limits, keeps, notes, networkProblem }
}
