import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { EnvVariable } from '../../model/command.ts'
import type { StoredImage } from '../images/image-store.ts'
import { environmentInside, INSIDE, pathInside, readOnlyPaths } from '../run/inside.ts'
import type { Run } from '../run/runtime.ts'
import type { ContainerNetwork } from './container-network.ts'
import type { EngineFacts } from './engine.ts'
import { pathShown, shownPlaces } from './room-places.ts'

export interface ContainerSpec {
  readonly run: Run
  /** The working directory, as a path of this machine. */
  readonly cwd: string
  readonly image: Pick<StoredImage, 'source' | 'volumes' | 'entrypoint'>
  readonly facts: EngineFacts
  readonly labels: Readonly<Record<string, string>>
  readonly env: readonly EnvVariable[]
  /** The user that the command runs as, inside and outside. */
  readonly user: { readonly uid: number; readonly gid: number }
  /** The network, for a command that may use one. */
  readonly network: Pick<ContainerNetwork, 'mode' | 'files'> | undefined
  /** The seccomp filter: the profile itself for Docker, the path of its file for Podman. */
  readonly seccomp: string
  /** The file of the init that its command cannot reach; the engine's own init is used when undefined. */
  readonly init: string | undefined
  /** The parent of the container's control group, where we may choose it. */
  readonly groupParent: string | undefined
}

const SHM_BYTES = 64 << 20
/** For rooms without a folder for temporary files, and for volumes that an image declares. */
const TMP_BYTES = 256 << 20
const CPU_UNIT = 1e9
/** Paths that engines mask by default (setting our own list replaces theirs), and files that identify the machine. */
const MASKED = [
  ...[
    'asound',
    'acpi',
    'interrupts',
    'kcore',
    'keys',
    'latency_stats',
    'timer_list',
    'timer_stats',
    'sched_debug',
    'scsi',
  ].map((name) => `/proc/${name}`),
  ...['firmware', 'class', 'bus', 'block', 'dev', 'module', 'kernel', 'devices/virtual'].map((name) => `/sys/${name}`),
]
/** The engine's minimum. */
const LEAST_MEMORY_BYTES = 6 << 20
/** The init, which reaps orphans and starts the command. */
const OWN_PROCESSES = 1
/** The path of the worker's init in every container. */
export const INIT = '/.windlass-init'

/**
 * A container as the Engine API describes it. The client controls only argv, environment, working directory, image and
 * places.
 */
export function containerBody(order: ContainerSpec): object {
  const { run, cwd, image, facts, labels, user } = order
  const { room, hooks } = run
  const hasInput = hooks.stdin !== undefined
  return {
    Image: image.source,
    Entrypoint: order.init === undefined ? begun(order) : [INIT, '--', ...begun(order)],
    Cmd: [],
    Env: [...containerEnv(order)].map(([name, value]) => `${name}=${value}`),
    WorkingDir: pathShown(cwd, room),
    // The root user of a rootless engine is the worker's own user, which must be able to collect outputs and clean up.
    User: facts.isRootless ? '0:0' : `${user.uid}:${user.gid}`,
    Labels: labels,
    Healthcheck: { Test: ['NONE'] },
    ...{ AttachStdin: hasInput, OpenStdin: hasInput, StdinOnce: hasInput },
    ...{ AttachStdout: true, AttachStderr: true, Tty: false },
    // A container in the machine's or another container's network has that network's hostname.
    ...(isShared(order) ? {} : { Hostname: INSIDE.hostname }),
    HostConfig: hostConfig(order),
  }
}

/** Includes the image's entrypoint where the command wants it. */
function begun({ run: { command, entrypointAt }, image }: ContainerSpec): readonly string[] {
  const { argv } = command
  if (entrypointAt === undefined) return argv
  return [...argv.slice(0, entrypointAt), ...(image.entrypoint ?? []), ...argv.slice(entrypointAt)]
}

/** The image's PATH applies unless the command or the worker sets one. */
function containerEnv({ run, env }: ContainerSpec): ReadonlyMap<string, string> {
  const all = new Map(environmentInside(run.command, env))
  if (![...env, ...run.command.env].some(({ name }) => name === 'PATH')) all.delete('PATH')
  return all
}

const isShared = ({ network }: ContainerSpec): boolean => /^(host$|container:)/.test(network?.mode ?? '')

function hostConfig(order: ContainerSpec): object {
  const { run, facts, network, groupParent } = order
  const { limits } = run
  const { memoryBytes, pids, cpus } = limits
  const memory = memoryBytes === undefined ? undefined : Math.max(LEAST_MEMORY_BYTES, Math.trunc(memoryBytes))
  return {
    NetworkMode: network?.mode ?? 'none',
    ReadonlyRootfs: true,
    Mounts: mounts(order),
    Tmpfs: temporary(order),
    Ulimits: ulimits(order),
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges', ...(facts.hasSeccomp ? [`seccomp=${order.seccomp}`] : [])],
    MaskedPaths: MASKED,
    Init: order.init === undefined,
    IpcMode: 'private',
    ...(facts.cgroupVersion === 2 ? { CgroupnsMode: 'private' } : {}),
    ShmSize: SHM_BYTES,
    // The container's root is read-only: the engine would otherwise store what it writes, without a disk limit.
    LogConfig: { Type: 'none' },
    RestartPolicy: { Name: 'no' },
    ...(memory !== undefined && facts.limits.memory ? { Memory: memory } : {}),
    ...(memory !== undefined && facts.limits.memory && facts.limits.swap ? { MemorySwap: memory } : {}),
    ...(pids !== undefined && facts.limits.pids ? { PidsLimit: Math.trunc(pids) + OWN_PROCESSES } : {}),
    ...(cpus !== undefined && facts.limits.cpus
      ? { NanoCpus: Math.max(CPU_UNIT / 100, Math.round(cpus * CPU_UNIT)) }
      : {}),
    ...(groupParent === undefined ? {} : { CgroupParent: groupParent }),
  }
}

/** Mounts are structures, not `from:to` texts, because a path may contain a colon. */
function mounts({ run: { room }, network, init }: ContainerSpec): object[] {
  const closed = readOnlyPaths(room)
  const isClosed = closed.includes(room.path)
  const outside = room.mounts ?? []
  const bind = (Source: string, Target: string, ReadOnly: boolean): object => ({
    Type: 'bind',
    Source,
    Target,
    ReadOnly,
  })
  return [
    bind(room.path, INSIDE.room, isClosed),
    ...(isClosed ? [] : closed.map((path) => bind(path, pathInside(path, room), true))),
    ...(room.tmp === undefined ? [] : [bind(room.tmp, INSIDE.tmp, false)]),
    ...(network?.files ?? []).map(({ from, to }) => bind(from, to, true)),
    ...(init === undefined ? [] : [bind(init, INIT, true)]),
    ...shownPlaces(room)
      .filter(({ at }) => !outside.some((mount) => mount.at === at)) // engines refuse two mounts at one path
      .map(({ path, at, writable }) => bind(path, at, !writable)),
    ...outside.map(({ source, at, writable }) => bind(source, at, !writable)),
  ]
}

/**
 * An image can declare volumes of any size: they become tmpfs mounts of a limited size, counted as the container's
 * memory.
 */
function temporary({ run: { room, limits }, image }: ContainerSpec): Readonly<Record<string, string>> {
  const bytes = Math.max(4096, Math.min(TMP_BYTES, Math.trunc(limits.diskBytes ?? TMP_BYTES)))
  const options = `rw,exec,nosuid,nodev,size=${bytes},mode=1777`
  const isOurs = (place: string): boolean =>
    [INSIDE.room, INSIDE.tmp].some((ours) => place === ours || place.startsWith(`${ours}/`))
  const wanted = image.volumes
    .map((place) => posix.resolve('/', place))
    .filter((place) => place !== '/' && !isOurs(place))
  return Object.fromEntries(
    [...(room.tmp === undefined ? [INSIDE.tmp] : []), ...wanted].map((place) => [place, options]),
  )
}

interface Ulimit {
  readonly Name: string
  readonly Soft: number
  readonly Hard: number
}

const ulimit = (Name: string, Soft: number, Hard = Soft): Ulimit => ({ Name, Soft, Hard })

function ulimits({ run: { limits }, facts }: ContainerSpec): readonly Ulimit[] {
  const { cpuMs, openFiles, fileBytes, diskBytes } = limits
  const [files, processes] = [hardLimit('open files'), hardLimit('processes')]
  const largest = Math.min(fileBytes ?? Number.POSITIVE_INFINITY, diskBytes ?? Number.POSITIVE_INFINITY)
  const seconds = cpuMs === undefined ? undefined : Math.ceil(cpuMs / 1000) + 1
  return [
    ulimit('core', 0),
    ...(largest === Number.POSITIVE_INFINITY ? [] : [ulimit('fsize', Math.trunc(largest))]),
    ...(seconds === undefined ? [] : [ulimit('cpu', seconds, seconds + 1)]),
    ...(openFiles === undefined ? [] : [ulimit('nofile', Math.min(files, Math.trunc(openFiles)))]),
    // Podman requests more of these than it may have, unless it is given a number.
    ...(facts.isPodman && openFiles === undefined ? [ulimit('nofile', Math.min(files, 1024), files)] : []),
    ...(facts.isPodman ? [ulimit('nproc', Math.min(processes, PODMAN_PROCESSES))] : []),
  ]
}

const MANY = 1 << 20
/** The limits that the engine applies. */
const PODMAN_PROCESSES = 32_768

/** Only root can raise a limit above the inherited one. */
function hardLimit(name: 'open files' | 'processes'): number {
  const hard = new RegExp(`^Max ${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return hard === undefined ? MANY : Math.min(Number(hard), MANY)
}
