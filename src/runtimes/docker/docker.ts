import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Limits } from '../../model/command.ts'
import { type HeldImage, type ImageCache, imageCache } from '../images/image-cache.ts'
import { seccompProfile } from '../images/seccomp-profile.ts'
import type { Launcher, LaunchSpec } from '../launcher/launcher.ts'
import { firstRunnable } from '../run/first-runnable.ts'
import { launchRun } from '../run/launch-run.ts'
import { mismatch } from '../run/mismatch.ts'
import { mustBeName, mustBeRunnable, workingDirectoryOf } from '../run/program.ts'
import { foldersOf, launchLimits, limitFlags } from '../run/resource-limits.ts'
import { cancelledBeforeStart, notStarted } from '../run/run-end.ts'
import type { Run, RunEnd, Runtime } from '../run/runtime.ts'
import { ROOM_RULES, type SeccompRule, SYSTEM_V_RULES } from '../sandbox/seccomp/rules.ts'
import { noTerminal } from '../terminal/terminal-argv.ts'
import { containerBody } from './container-body.ts'
import { containerEnd } from './container-end.ts'
import { type ContainerGroups, containerGroups } from './container-groups.ts'
import { ContainerLaunch, type Prlimit } from './container-launch.ts'
import { containerNetwork } from './container-network.ts'
import type { DockerOptions } from './docker-options.ts'
import { probeOf } from './docker-probe.ts'
import { type ContainerEngine, type EngineFacts, engineBy } from './engine.ts'
import { engineImages } from './engine-images.ts'
import { engineSocket } from './engine-socket.ts'
import { placeInit } from './init-program.ts'
import { onceMade } from './once-made.ts'
import { pauseProgram } from './pause-program.ts'

export interface DockerRuntime extends Runtime {
  readonly images: ImageCache
  /** Removes the containers and groups of this worker. */
  close(): Promise<void>
}

interface Kit {
  readonly facts: EngineFacts
  readonly prlimit: string | undefined
  /** The sandbox's seccomp rules: an engine's default profile allows more. */
  readonly seccomp: string
  /** The same without System V IPC, for engines that cannot limit memory: its segments would not be counted. */
  readonly seccompWithoutIpc: string
  readonly groups: ContainerGroups | undefined
  /** The path of the pause program. */
  readonly pause: string | undefined
  /** The file of an init that commands cannot reach. */
  readonly init: string | undefined
}

/** For control groups, whose last process may take a moment to exit. */
const CLOSE_ROUNDS = 40
const CLOSE_PAUSE_MS = 50
const LABEL = 'windlass.worker'
/** The kernel's MAX_ARG_STRLEN, the limit of one argument or variable. */
const MOST_ARGUMENT_BYTES = 131_071

/** Runs each command in its own container, which the engine makes from the image that the command names. */
export function dockerRuntime(options: DockerOptions): DockerRuntime {
  const { clock, socketPath, folder } = options
  const engine = engineBy(engineSocket(socketPath, clock))
  const images = imageCache({ ...options.images, store: engineImages(engine), clock, folder })
  let isAsked = false
  const ready = onceMade(() => {
    isAsked = true
    return makeKit(engine, options)
  })
  const runtime: DockerRuntime = {
    name: 'docker',
    images,
    probe: () => probeOf({ runtime, ready, options }),
    expect: () => {},
    async run(run, signal): Promise<RunEnd> {
      const { command, room } = run
      mustBeRunnable(command)
      mustBeName(room.name)
      if (room.rootfs !== undefined) throw mismatch('a container can only use the root file system of its image')
      if (run.terminal !== undefined) throw noTerminal()
      const cwd = workingDirectoryOf(command, room)
      const long = [...command.argv, ...command.env.map(({ name, value }) => `${name}=${value}`)].find(
        (text) => Buffer.byteLength(text) > MOST_ARGUMENT_BYTES,
      )
      if (long !== undefined) return notStarted('E2BIG', `an argument of ${long.length} characters is too long (E2BIG)`)
      const made = await ready()
      if (signal.aborted) return cancelledBeforeStart
      using image = await images.hold(command.image, signal)
      if (image === undefined || signal.aborted) return cancelledBeforeStart
      return await inContainer({ run, cwd, image, kit: made, engine, options }, signal)
    },
    async close() {
      const made = isAsked ? await ready().catch(() => undefined) : undefined
      if (made === undefined) return
      await sweep(engine, options.worker)
      for (let round = 0; round < CLOSE_ROUNDS && made.groups?.close() === false; round++)
        await new Promise<void>((resolve) => void clock.after(CLOSE_PAUSE_MS, resolve))
    },
  }
  return runtime
}

interface ContainerRun {
  readonly run: Run
  readonly cwd: string
  readonly image: HeldImage
  readonly kit: Kit
  readonly engine: ContainerEngine
  readonly options: DockerOptions
}

async function inContainer(parts: ContainerRun, signal: AbortSignal): Promise<RunEnd> {
  const { run, cwd, image, kit, engine, options } = parts
  const { command, room, limits, hooks } = run
  const { clock, worker, env, networks, machineNetwork = 'host' } = options
  const user = room.user ?? options.user
  const { facts, groups, init } = kit
  const isUncounted = limits.memoryBytes !== undefined && !facts.limits.memory
  const seccomp = isUncounted ? kit.seccompWithoutIpc : kit.seccomp
  const order = orderOf(run, options)
  const labels = { [LABEL]: worker }
  const groupParent = groups?.pathOf(room.name)
  const name = `windlass-${shortName(worker)}-${room.name}`
  const asked = { engine, networks, machineNetwork, name, image: image.source, labels, pause: kit.pause }
  await using network = command.network ? await containerNetwork(asked) : undefined
  const body = containerBody({ run, cwd, image, facts, labels, env, user, network, seccomp, groupParent, init })
  const tree = groups?.around(room.name, order.limits)
  const plan = {
    ...order,
    name,
    body,
    isMemoryKept: facts.limits.memory,
    wallMs: limits.wallMs,
    folders: foldersOf(room),
    tree,
    prlimit: prlimitFor(kit, limits, options.socketPath),
  }
  let launch: ContainerLaunch | undefined
  const launcher: Pick<Launcher, 'start'> = {
    start(_, listener) {
      launch = new ContainerLaunch(plan, { engine, clock }, listener)
      queueMicrotask(() => void launch?.begin())
      return launch
    },
  }
  const ended = await launchRun({ launcher, clock, order, wallMs: undefined, hooks }, signal)
  const outcome = { ...ended, stopped: ended.stopped ?? (launch?.isLate === true ? ('timeout' as const) : undefined) }
  return containerEnd(outcome, limits, command.argv[0] as string)
}

/** Rootless Podman does not apply limits of the container's body. */
function prlimitFor({ facts, prlimit }: Kit, limits: Limits, socketPath: string): Prlimit | undefined {
  if (!facts.isPodman || !facts.isRootless || prlimit === undefined) return undefined
  const { uid, gid } = statSync(socketPath)
  return { program: prlimit, flags: ['--core=0', ...limitFlags(limits)], uid, gid }
}

/** A container launch uses only the streams and limits of this; everything else is in the container's body. */
const orderOf = ({ room, limits, hooks, command }: Run, { outputBytes }: DockerOptions): LaunchSpec => ({
  ...{ name: room.name, argv: command.argv, env: [], cwd: '/', user: undefined },
  hasInput: hooks.stdin !== undefined,
  outputBytes: limits.outputBytes ?? outputBytes,
  limits: launchLimits(limits),
})

async function makeKit(
  engine: ContainerEngine,
  { worker, folder, arch, useGroups = true }: DockerOptions,
): Promise<Kit> {
  await mkdir(folder, { recursive: true })
  const facts = await engine.facts()
  const profileOf = async (name: string, rules: readonly SeccompRule[]): Promise<string> => {
    if (!facts.isPodman) return seccompProfile(rules)
    await writeFile(join(folder, name), seccompProfile(rules), { mode: 0o644 })
    return join(folder, name)
  }
  await sweep(engine, worker)
  const isPlain = facts.cgroupDriver === 'cgroupfs' && !facts.isRootless
  const groups = useGroups && isPlain ? containerGroups(shortName(worker)) : undefined
  groups?.sweep()
  const program = pauseProgram(arch)
  const pause = program && join(folder, 'pause')
  if (program && pause) await writeFile(pause, program, { mode: 0o755 })
  return {
    facts,
    groups,
    pause,
    init: await placeInit(folder, facts.isPodman ? 'podman' : 'docker'),
    prlimit: await firstRunnable('prlimit'),
    seccomp: await profileOf('seccomp.json', ROOM_RULES),
    seccompWithoutIpc: await profileOf('seccomp-without-ipc.json', [...ROOM_RULES, ...SYSTEM_V_RULES]),
  }
}

/** Hashes the worker's name, which can contain any character; names of containers and groups cannot. */
const shortName = (worker: string): string => createHash('sha256').update(worker).digest('hex').slice(0, 16)

/** Removes containers that an earlier process of this worker left behind. */
async function sweep(engine: ContainerEngine, worker: string): Promise<void> {
  for (const id of await engine.labelled(`${LABEL}=${worker}`)) await engine.remove(id)
}
