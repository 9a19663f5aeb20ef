import { existsSync, openSync, rmdirSync, writeFileSync, writeSync } from 'node:fs'
import { tryRead, tryWrite } from '../processes/small-files.ts'

/** The control group of one room in one hierarchy. */
export interface GroupFolder {
  readonly version: 1 | 2
  readonly controllers: readonly string[]
  readonly path: string
  /** A descriptor of cgroup.procs: writing to it moves a process into the group. */
  readonly door: number
  /** The same descriptor for the group that the launcher itself belongs to. */
  readonly home: number
}

export interface GroupUsage {
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  readonly peakMemoryBytes: number | undefined
}

/** Opened beforehand, so that entering is a single write. */
export const openDoor = (path: string): number => openSync(`${path}/cgroup.procs`, 'w')

/** Moves this process into the group. */
export const enterBy = (door: number): void => void writeSync(door, '0')

/**
 * The process that forks is briefly in the room's group. A limit below its own size would make the kernel kill it: with
 * a limit of one byte a command could end the launcher and all its runs. Docker has the same minimum.
 */
const LEAST_MEMORY_BYTES = 6 << 20

/**
 * cgroup versions 1 and 2 have the same settings in different files. The calls are synchronous because these files are
 * in memory.
 */
export function limitMemory({ version, path }: GroupFolder, most: number): void {
  const bytes = Math.max(LEAST_MEMORY_BYTES, Math.trunc(most))
  if (version === 2) {
    writeFileSync(`${path}/memory.max`, `${bytes}`)
    // Without swap the file does not exist and nothing needs a limit. The kernel kills one process, as in version 1.
    tryWrite(`${path}/memory.swap.max`, '0')
  } else {
    writeFileSync(`${path}/memory.limit_in_bytes`, `${bytes}`)
    tryWrite(`${path}/memory.memsw.limit_in_bytes`, `${bytes}`)
  }
}

export const limitPids = ({ path }: GroupFolder, pids: number): void => writeFileSync(`${path}/pids.max`, `${pids}`)

const PERIOD_US = 100_000
/** The kernel's minimum. */
const LEAST_QUOTA_US = 1000

export function limitCpus({ version, path }: GroupFolder, cpus: number): void {
  const quota = Math.max(LEAST_QUOTA_US, Math.round(cpus * PERIOD_US))
  if (version === 2) return writeFileSync(`${path}/cpu.max`, `${quota} ${PERIOD_US}`)
  writeFileSync(`${path}/cpu.cfs_period_us`, `${PERIOD_US}`)
  writeFileSync(`${path}/cpu.cfs_quota_us`, `${quota}`)
}

export function cpuOf({ version, path }: GroupFolder): Pick<GroupUsage, 'cpuUserMs' | 'cpuSystemMs'> {
  if (version === 1) {
    const [user, system] = ['user', 'sys'].map((part) => Number(tryRead(`${path}/cpuacct.usage_${part}`)) / 1e6)
    return { cpuUserMs: user, cpuSystemMs: system }
  }
  const figures = figuresIn(tryRead(`${path}/cpu.stat`))
  const ms = (name: string): number => (figures.get(name) ?? 0) / 1000
  return { cpuUserMs: ms('user_usec'), cpuSystemMs: ms('system_usec') }
}

export function peakMemoryOf({ version, path }: GroupFolder): number | undefined {
  const text = tryRead(`${path}/${version === 2 ? 'memory.peak' : 'memory.max_usage_in_bytes'}`).trim()
  return text === '' ? undefined : Number(text)
}

/** Counts processes that the kernel killed for lack of memory. */
export function memoryKillsOf({ version, path }: GroupFolder): number {
  const file = version === 2 ? 'memory.events' : 'memory.oom_control'
  return figuresIn(tryRead(`${path}/${file}`)).get('oom_kill') ?? 0
}

/** Counts forks that the kernel refused. */
export const pidsRefusedIn = ({ path }: GroupFolder): number =>
  figuresIn(tryRead(`${path}/pids.events`)).get('max') ?? 0

/** Moves a process into the group; pid 0 is this process. */
export const enter = (path: string, pid = 0): void => writeFileSync(`${path}/cgroup.procs`, `${pid}`)

export function pidsIn(path: string): number[] {
  return tryRead(`${path}/cgroup.procs`).split('\n').filter(Boolean).map(Number)
}

/** Version 2 has a flag for an empty group. The flag also counts processes that are still exiting. */
export function isEmpty({ version, path }: Pick<GroupFolder, 'version' | 'path'>): boolean {
  if (version === 1) return pidsIn(path).length === 0
  return (figuresIn(tryRead(`${path}/cgroup.events`)).get('populated') ?? 0) === 0
}

/** Returns false on kernels before 5.14. */
export function killAtOnce({ version, path }: Pick<GroupFolder, 'version' | 'path'>): boolean {
  return version === 2 && existsSync(`${path}/cgroup.kill`) && tryWrite(`${path}/cgroup.kill`, '1')
}

const figuresIn = (text: string): Map<string, number> =>
  new Map(text.split('\n').map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]))

/** Returns false while a process is still in the group. */
export function tryRemove(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
