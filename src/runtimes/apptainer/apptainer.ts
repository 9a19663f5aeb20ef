import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ImageCache, type ImagePolicy, imageCache } from '../images/image-cache.ts'
import { seccompProfile } from '../images/seccomp-profile.ts'
import { tryContainer } from '../images/try-container.ts'
import type { LauncherFacts, LaunchSpec } from '../launcher/launcher.ts'
import { ipcSettingsOf } from '../namespaces/ipc-limits.ts'
import { keptLimits, networkFor, networkProblem, notesOn, type RoomRuntimeOptions } from '../namespaces/room-runtime.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { firstRunnable } from '../run/first-runnable.ts'
import { environmentInside } from '../run/inside.ts'
import { type LaunchOutcome, launchRun } from '../run/launch-run.ts'
import { mismatch } from '../run/mismatch.ts'
import { mustBeName, mustBeRunnable, workingDirectoryOf } from '../run/program.ts'
import { foldersOf, launchLimits, limitFlags } from '../run/resource-limits.ts'
import { cancelledBeforeStart } from '../run/run-end.ts'
import type { Run, RunEnd, Runtime, RuntimeProbe } from '../run/runtime.ts'
import { ROOM_RULES, SYSTEM_V_RULES } from '../sandbox/seccomp/rules.ts'
import { noTerminal } from '../terminal/terminal-argv.ts'
import { apptainerArgv, splitEnvironment } from './apptainer-argv.ts'
import { apptainerEnd, mustHaveWorked } from './apptainer-end.ts'
import { apptainerImages } from './apptainer-images.ts'

export interface ApptainerOptions extends RoomRuntimeOptions {
  readonly images: ImagePolicy
  /** Commands may name SIF files and directories by a path below one of these folders. */
  readonly imageFolders?: readonly string[]
  /** Registries that are contacted without TLS. */
  readonly plainRegistries?: readonly string[]
  /** The path of Apptainer or Singularity; searched for when undefined. */
  readonly program?: string
}

export interface ApptainerRuntime extends Runtime {
  readonly images: ImageCache
}

interface Kit {
  readonly program: string
  readonly prlimit: string
  readonly version: string
  readonly profile: string
  /** The same filter, which also refuses System V IPC. */
  readonly profileWithoutIpc: string
  /** An empty folder. */
  readonly empty: string
  readonly facts: LauncherFacts
}

/** Threads of Apptainer outside and of the container's init inside, which count as processes. */
const OWN_THREADS = 24
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const VERSION_MS = 20_000
/** Open files that Apptainer needs to make a container. */
const LEAST_OPEN_FILES = 32

/** Runs each command in a container that Apptainer or Singularity makes: without a daemon, and never as root. */
export function apptainerRuntime(options: ApptainerOptions): ApptainerRuntime {
  const { launcher, clock, folder, imageFolders = [], plainRegistries = [] } = options
  const kit = makeKit(options)
  kit.catch(() => {}) // reported to each caller of `ready`
  const errand = async (words: readonly string[], withinMs: number): Promise<void> => {
    const { program } = await kit
    mustHaveWorked(await runErrand([program, ...words], options, withinMs), words[0] as string)
  }
  const store = apptainerImages({ folder: join(folder, 'images'), imageFolders, errand, plainRegistries })
  const images = imageCache({ ...options.images, store, clock, folder })
  const runtime: ApptainerRuntime = {
    name: 'apptainer',
    images,
    probe: () => probeOf(runtime, kit, options),
    expect: () => launcher.expect(),
    async run(run, signal): Promise<RunEnd> {
      const { command, room, limits, hooks } = run
      mustBeRunnable(command)
      mustBeName(room.name)
      if (room.rootfs !== undefined) throw mismatch('a container can only use the root file system of its image')
      if (run.terminal !== undefined) throw noTerminal()
      const cwd = workingDirectoryOf(command, room)
      const made = await kit
      if (signal.aborted) return cancelledBeforeStart
      using image = await images.hold(command.image, signal)
      if (image === undefined || signal.aborted) return cancelledBeforeStart
      await using network = await networkFor(run, options)
      const order = orderOf(run, { kit: made, options, cwd, image: image.source, network })
      const outcome = await launchRun({ launcher, clock, order, wallMs: limits.wallMs, hooks }, signal)
      return apptainerEnd(outcome, limits, command.argv[0] as string)
    },
  }
  return runtime
}

async function probeOf(runtime: Runtime, kit: Promise<Kit>, options: ApptainerOptions): Promise<RuntimeProbe> {
  try {
    const { facts, version } = await kit
    const tried = options.images.image === undefined ? NOT_TRIED : await tryContainer(runtime, options, SECURED)
    const more = `of processes a command may have up to ${OWN_THREADS} more than its limit`
    const notes = [version, ...(tried === undefined ? [] : [tried]), more, ...notesOn(facts, options)]
    const keeps = { network: true, readOnly: true, rootfs: false, control: false, terminal: false }
    const limits = { ...keptLimits(facts, options), pids: facts.pids }
    return { works: true, isolation: 'container', limits, keeps, notes, networkProblem: () => networkProblem(options) }
  } catch (error) {
    return { works: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

const NOT_TRIED = 'no container was tested, because no default image is set'

/** The output that a correctly secured container prints: no capabilities, no_new_privs, a seccomp filter. */
const SECURED = {
  script: 'sed -n "s/^\\(CapEff\\|CapBnd\\|NoNewPrivs\\|Seccomp\\):\\s*//p" /proc/self/status',
  says: `${'0'.repeat(16)}\n${'0'.repeat(16)}\n1\n2\n`,
}

interface OrderParts {
  readonly kit: Kit
  readonly options: ApptainerOptions
  readonly cwd: string
  readonly image: string
  readonly network: RoomNetwork | undefined
}

function orderOf(run: Run, { kit, options, cwd, image, network }: OrderParts): LaunchSpec {
  const { command, room, limits, hooks } = run
  const { program, prlimit } = kit
  // Apptainer has no option for sysctl settings of an IPC namespace.
  const profile = ipcSettingsOf(run, kit.facts).length === 0 ? kit.profile : kit.profileWithoutIpc
  const wanted = new Map(environmentInside(command, options.env))
  // The image's PATH applies unless the command or the worker sets one.
  if (![...options.env, ...command.env].some(({ name }) => name === 'PATH')) wanted.delete('PATH')
  const { outer, inner } = splitEnvironment(wanted)
  const { openFiles, pids } = limits
  const files = openFiles === undefined ? {} : { openFiles: Math.max(openFiles, LEAST_OPEN_FILES) }
  return {
    name: room.name,
    argv: [
      ...(network?.join ?? []),
      ...[prlimit, '--core=0', ...limitFlags({ ...limits, ...files }), '--'],
      ...apptainerArgv({ program, room, cwd, network, image, profile, empty: kit.empty }),
      ...inner,
      ...command.argv,
    ],
    env: [...ownEnvironment(options), ...outer],
    ...{ cwd: '/', user: options.user, hasInput: hooks.stdin !== undefined, folders: foldersOf(room) },
    outputBytes: limits.outputBytes ?? options.outputBytes,
    limits: { ...launchLimits(limits), pids: pids === undefined ? undefined : pids + OWN_THREADS },
    hidesInit: true,
  }
}

/** The environment of Apptainer itself. Its cache and its configuration are in the runtime's folder. */
const ownEnvironment = ({ folder }: ApptainerOptions): readonly (readonly [string, string])[] => [
  ['PATH', PATH],
  ['HOME', join(folder, 'home')],
  ['APPTAINER_CONFIGDIR', join(folder, 'home')],
  ['APPTAINER_TMPDIR', join(folder, 'tmp')],
  ['SINGULARITY_TMPDIR', join(folder, 'tmp')],
  ['APPTAINER_DISABLE_CACHE', '1'],
  ['SINGULARITY_DISABLE_CACHE', '1'],
]

let errands = 0

function runErrand(argv: readonly string[], options: ApptainerOptions, wallMs: number): Promise<LaunchOutcome> {
  const { launcher, clock, user } = options
  const order: LaunchSpec = {
    ...{ name: `apptainer-errand-${++errands}`, argv, env: ownEnvironment(options), cwd: '/', user, hasInput: false },
    outputBytes: 1 << 20,
    limits: { memoryBytes: undefined, pids: undefined, cpuMs: undefined },
  }
  return launchRun({ launcher, clock, order, wallMs, hooks: {} }, new AbortController().signal)
}

async function makeKit(options: ApptainerOptions): Promise<Kit> {
  const { launcher, folder, user, isRoot } = options
  // In a container that root started, the command is root and can write to /proc/sys without any capability.
  if (isRoot && (user === undefined || user.uid === 0))
    throw new Error('Apptainer must not run as root: set another user')
  const program = options.program ?? (await firstRunnable('apptainer')) ?? (await firstRunnable('singularity'))
  const prlimit = await firstRunnable('prlimit')
  if (program === undefined) throw new Error('neither Apptainer nor Singularity is installed')
  if (prlimit === undefined) throw new Error('util-linux is not installed (no prlimit)')
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o711)
  for (const name of ['home', 'tmp', 'images']) {
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
    if (user !== undefined) await chown(join(folder, name), user.uid, user.gid)
  }
  const empty = join(folder, 'empty')
  await mkdir(empty, { recursive: true, mode: 0o755 })
  const profile = join(folder, 'seccomp.json')
  await writeFile(profile, seccompProfile(), { mode: 0o644 })
  const profileWithoutIpc = join(folder, 'seccomp-without-ipc.json')
  await writeFile(profileWithoutIpc, seccompProfile([...ROOM_RULES, ...SYSTEM_V_RULES]), { mode: 0o644 })
  const asked = await runErrand([program, '--version'], options, VERSION_MS)
  mustHaveWorked(asked, program)
  const version = Buffer.from(asked.stdout.bytes).toString().trim()
  // Some distributions have a game named singularity.
  if (!/^(apptainer|singularity(-ce|-pro)?) version /i.test(version))
    throw new Error(`${program} is not Apptainer: it says ${JSON.stringify(version.slice(0, 100))}`)
  return { program, prlimit, version, profile, profileWithoutIpc, empty, facts: await launcher.facts() }
}
