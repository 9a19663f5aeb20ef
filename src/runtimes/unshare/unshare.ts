import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LauncherFacts, LaunchSpec } from '../launcher/launcher.ts'
import { makeEtc } from '../namespaces/etc-folder.ts'
import { ipcSettingsOf } from '../namespaces/ipc-limits.ts'
import {
  belongsToRoot,
  keptLimits,
  networkFor,
  networkProblem,
  notesOn,
  type RoomRuntimeOptions,
} from '../namespaces/room-runtime.ts'
import { type ProgramSearch, programSearch, type SystemPart, systemOfMachine } from '../namespaces/system-view.ts'
import { canLimitIpc } from '../namespaces/try-ipc.ts'
import { tryRoom } from '../namespaces/try-room.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { firstRunnable } from '../run/first-runnable.ts'
import { environmentInside, pathInside } from '../run/inside.ts'
import { launchRun } from '../run/launch-run.ts'
import { mismatch } from '../run/mismatch.ts'
import { mustBeName, mustBeRunnable, type ProgramProblem, workingDirectoryOf } from '../run/program.ts'
import { foldersOf, launchLimits, limitFlags } from '../run/resource-limits.ts'
import { cancelledBeforeStart, notStarted } from '../run/run-end.ts'
import type { Run, RunEnd, Runtime, RuntimeProbe } from '../run/runtime.ts'
import { argvInTerminal, TERMINAL_PROCESSES } from '../terminal/terminal-argv.ts'
import { DEVICES, mountTable } from './mount-table.ts'
import { roomScript } from './room-script.ts'
import { unshareEnd } from './unshare-end.ts'

interface Kit {
  readonly unshare: string
  readonly prlimit: string
  readonly root: string
  readonly dev: string
  readonly system: readonly SystemPart[]
  readonly programProblem: ProgramSearch
  readonly facts: LauncherFacts
}

/** unshare(1) outside and the script inside. */
const OWN_PROCESSES = 2
/** The levels from unshare(1) to the command. */
const DEPTH = 2
const TOOLS = ['unshare', 'prlimit', 'setpriv', 'mount', 'env', 'sh'] as const
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const NAMESPACES = [
  '--user',
  '--map-root-user',
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
  '--ipc',
  '--uts',
  '--cgroup',
]

/**
 * Runs commands in rooms made with programs that every Linux has: unshare(1) and mount(8). The isolation is that of the
 * sandbox without the seccomp filter, so a command can use a kernel vulnerability to break out. For machines without
 * bubblewrap.
 */
export function unshareRuntime(options: RoomRuntimeOptions): Runtime {
  const { launcher, clock } = options
  const kit = makeKit(options)
  kit.catch(() => {}) // reported to each caller of `ready`
  const runtime: Runtime = {
    name: 'unshare',
    async probe(): Promise<RuntimeProbe> {
      try {
        const { facts } = await kit
        await tryRoom(runtime, options, SECURED)
        const never = new AbortController().signal
        const hasIpc = facts.memory === 'all' || (await canLimitIpc((run) => runtime.run(run, never), options.folder))
        const notes = [
          'system calls are not filtered: a vulnerability of the kernel can break the isolation',
          ...(hasIpc ? [] : [UNCOUNTED]),
          ...notesOn(facts, options),
        ]
        const keeps = { network: true, readOnly: true, rootfs: false, control: true, terminal: true }
        const limits = keptLimits(facts, options)
        return {
          works: true,
          isolation: 'namespaces',
          limits,
          keeps,
          notes,
          networkProblem: () => networkProblem(options),
        }
      } catch (error) {
        return { works: false, reason: error instanceof Error ? error.message : String(error) }
      }
    },
    expect: () => launcher.expect(),
    async run(run, signal): Promise<RunEnd> {
      await using network = await networkFor(run, options)
      const order = orderOf({ run, network }, await kit, options)
      if ('what' in order) return notStarted(order.code, order.what)
      if (signal.aborted) return cancelledBeforeStart
      const { limits, hooks, held } = run
      return unshareEnd(await launchRun({ launcher, clock, order, wallMs: limits.wallMs, hooks, held }, signal), limits)
    },
  }
  return runtime
}

const UNCOUNTED =
  'no control group for memory, and this kernel (before 6.9) lets no room limit System V memory: it is not counted'

interface NetworkedRun {
  readonly run: Run
  readonly network: RoomNetwork | undefined
}

function orderOf({ run, network }: NetworkedRun, kit: Kit, options: RoomRuntimeOptions): LaunchSpec | ProgramProblem {
  const { command, room, limits, hooks } = run
  mustBeRunnable(command)
  mustBeName(room.name)
  if (room.rootfs !== undefined)
    throw mismatch('rooms made by unshare can only use the root file system of the machine')
  const cwd = workingDirectoryOf(command, room)
  const env = environmentInside(command, options.env)
  const problem = kit.programProblem(command.argv[0] as string, env.get('PATH'))
  if (problem !== undefined) return problem
  const { pids } = limits
  const own = run.terminal === undefined ? 0 : TERMINAL_PROCESSES
  const inside = pids === undefined || kit.facts.pids === 'all' ? [] : [`--nproc=${pids + own}`]
  const fds = {
    handed: [{ text: mountTable({ ...kit, room, network, isRoots: belongsToRoot(options) }) }],
    hasStatus: true,
  }
  const argv = [
    ...(network?.join ?? []),
    ...[kit.unshare, ...NAMESPACES, ...(network === undefined ? ['--net'] : [])],
    ...['/bin/sh', '-c', roomScript(ipcSettingsOf(run, kit.facts)), 'sh', kit.root, pathInside(cwd, room)],
    ...[...env].map(([name, value]) => `${name}=${value}`),
    // prlimit(1) is used even without limits. After it a program may have any name; env(1) would treat a name with an =
    // as a variable.
    ...[kit.prlimit, '--core=0', ...limitFlags(limits), ...inside, '--', ...argvInTerminal(run, env, fds)],
  ]
  return {
    ...{
      name: room.name,
      argv,
      env: [['PATH', PATH]],
      cwd: '/',
      user: room.user ?? options.user,
      hasInput: hooks.stdin !== undefined || belongsToRoot(options),
    },
    outputBytes: limits.outputBytes ?? options.outputBytes,
    limits: { ...launchLimits(limits), pids: pids === undefined ? undefined : pids + OWN_PROCESSES + own },
    ...{ ...fds, folders: foldersOf(room), depth: DEPTH, hasTerminal: run.terminal !== undefined },
    isHeld: run.held !== undefined,
  }
}

async function makeKit({ launcher, folder, readable = [] }: RoomRuntimeOptions): Promise<Kit> {
  const [unshare, prlimit, ...others] = await Promise.all(TOOLS.map(firstRunnable))
  const missing = TOOLS.find((_, i) => [unshare, prlimit, ...others][i] === undefined)
  if (unshare === undefined || prlimit === undefined || missing !== undefined)
    throw new Error(`util-linux or coreutils are not installed (no ${missing})`)
  const [root, dev] = [join(folder, 'new-root'), join(folder, 'dev')]
  await rm(dev, { recursive: true, force: true })
  for (const path of [root, dev, join(dev, 'shm'), join(dev, 'pts')])
    await mkdir(path, { recursive: true, mode: 0o755 })
  for (const name of DEVICES) await writeFile(join(dev, name), '')
  for (const [name, target] of LINKS) await symlink(target, join(dev, name))
  const system = systemOfMachine(await makeEtc(folder), readable)
  return { unshare, prlimit, root, dev, system, programProblem: programSearch(system), facts: await launcher.facts() }
}

const LINKS = [
  ['fd', '/proc/self/fd'],
  ['stdin', '/proc/self/fd/0'],
  ['stdout', '/proc/self/fd/1'],
  ['stderr', '/proc/self/fd/2'],
  ['ptmx', 'pts/ptmx'],
] as const

/** The output that a correctly secured room prints: its user, no capabilities, no_new_privs. */
const SECURED = {
  script: 'id -u; sed -n "s/^\\(CapEff\\|CapPrm\\|NoNewPrivs\\):\\s*//p" /proc/self/status',
  says: '1000\n0000000000000000\n0000000000000000\n1\n',
}
