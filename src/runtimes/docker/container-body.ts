import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { EnvVariable } from '../../model/command.ts'
import type { StoredImage } from '../images/image-store.ts'
import { environmentInside, INSIDE, pathInside, pathShown, readOnlyPaths, shownPlaces } from '../run/inside.ts'
import type { Run } from '../run/runtime.ts'
import type { ContainerNetwork } from './container-network.ts'
import type { EngineFacts } from './engine.ts'

export interface ContainerSpec {
  readonly run: Run
  /** The working directory, as it is called outside. */
  readonly cwd: string
  readonly image: Pick<StoredImage, 'source' | 'volumes' | 'entrypoint'>
  readonly facts: EngineFacts
  readonly labels: Readonly<Record<string, string>>
  readonly env: readonly EnvVariable[]
  /** Who it runs as, inside and outside. */
  readonly user: { readonly uid: number; readonly gid: number }
  /** The network of a command that may have one. */
  readonly network: Pick<ContainerNetwork, 'mode' | 'files'> | undefined
  /** The filter of system calls: as it is for Docker, the path of its file for Podman. */
  readonly seccomp: string
  /** The file of the init that its command cannot reach; the engine's own init is used when undefined. */
  readonly init: string | undefined
  /** The control group to make its own in, where that is ours to say. */
  readonly groupParent: string | undefined
}

const SHM_BYTES = 64 << 20
/** For rooms without a folder for temporary files, and for places that an image wants to write to. */
const TMP_BYTES = 256 << 20
const CPU_UNIT = 1e9
/** What engines hide by themselves, for saying more replaces it; and what tells one machine from another. */
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
/** An engine takes no less. */
const LEAST_MEMORY_BYTES = 6 << 20
/** The init, which reaps orphans and starts the command. */
const OWN_PROCESSES = 1
const INIT = '/.windlass-init'

/** A container in the words of the Engine API: nothing in it is the client's but argv, environment, working directory, image and places. */
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
    // The root of a rootless engine is the worker's own user, who must be able to carry outputs away and to clean up.
    User: facts.isRootless ? '0:0' : `${user.uid}:${user.gid}`,
    Labels: labels,
    Healthcheck: { Test: ['NONE'] },
    ...{ AttachStdin: hasInput, OpenStdin: hasInput, StdinOnce: hasInput },
    ...{ AttachStdout: true, AttachStderr: true, Tty: false },
    // In the network of the machine, or of another container, it has the name that belongs to that.
    ...(isShared(order) ? {} : { Hostname: INSIDE.hostname }),
    HostConfig: hostConfig(order),
  }
}

/** With the words of the image where the command wants them. */
function begun({ run: { command, entrypointAt }, image }: ContainerSpec): readonly string[] {
  const { argv } = command
  if (entrypointAt === undefined) return argv
  return [...argv.slice(0, entrypointAt), ...(image.entrypoint ?? []), ...argv.slice(entrypointAt)]
}

/** An image has a PATH of its own, which holds unless somebody says another. */
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
    // Nothing of what it writes is kept by the engine: that would be disk space without a limit.
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

/** As a structure: a path may have a colon in it. */
function mounts({ run: { room }, network, init }: ContainerSpec): object[] {
  const closed = readOnlyPaths(room)
  const isClosed = closed.includes(room.path)
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
    ...shownPlaces(room).map(({ path, at, writable }) => bind(path, at, !writable)),
  ]
}

/** An image can ask for disks of its own, of any size: it gets memory instead, so much and no more, that counts as the container's. */
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
    // Podman asks for more of these than it may have itself, unless it is told how many.
    ...(facts.isPodman && openFiles === undefined ? [ulimit('nofile', Math.min(files, 1024), files)] : []),
    ...(facts.isPodman ? [ulimit('nproc', Math.min(processes, PODMAN_PROCESSES))] : []),
  ]
}

const MANY = 1 << 20
/** What it holds itself to. */
const PODMAN_PROCESSES = 32_768

/** Nobody but root can have more than was handed down. */
function hardLimit(name: 'open files' | 'processes'): number {
  const hard = new RegExp(`^Max ${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return hard === undefined ? MANY : Math.min(Number(hard), MANY)
}
