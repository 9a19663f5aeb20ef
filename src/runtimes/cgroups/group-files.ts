import { existsSync, openSync, rmdirSync, writeFileSync, writeSync } from 'node:fs'
import { tryRead, tryWrite } from '../processes/small-files.ts'

/** A group that one room has in one hierarchy. */
export interface GroupFolder {
  readonly version: 1 | 2
  readonly controllers: readonly string[]
  readonly path: string
  /** Open for processes to enter by. */
  readonly door: number
  /** That of the group that the starting process itself belongs in. */
  readonly home: number
}

export interface GroupUsage {
  readonly cpuUserMs: number | undefined
  readonly cpuSystemMs: number | undefined
  readonly peakMemoryBytes: number | undefined
}

/** Opened beforehand: to enter is then one write. */
export const openDoor = (path: string): number => openSync(`${path}/cgroup.procs`, 'w')

/** Lets this process in. */
export const enterBy = (door: number): void => void writeSync(door, '0')

/**
 * Who starts a process is in its group for that moment, and would be killed in its place where a copy of itself is too much:
 * by a limit of one byte a command could end all others of its worker. It is also the least that Docker takes.
 */
const LEAST_MEMORY_BYTES = 6 << 20

/** The two versions say the same things in different files. Nothing here is waited for: these files are memory. */
export function limitMemory({ version, path }: GroupFolder, most: number): void {
  const bytes = Math.max(LEAST_MEMORY_BYTES, Math.trunc(most))
  if (version === 2) {
    writeFileSync(`${path}/memory.max`, `${bytes}`)
    // Where there is no swap there is no such file, and nothing to limit. Who is killed is one process, as in version 1.
    tryWrite(`${path}/memory.swap.max`, '0')
  } else {
    writeFileSync(`${path}/memory.limit_in_bytes`, `${bytes}`)
    tryWrite(`${path}/memory.memsw.limit_in_bytes`, `${bytes}`)
  }
}

export const limitPids = ({ path }: GroupFolder, pids: number): void => writeFileSync(`${path}/pids.max`, `${pids}`)

const PERIOD_US = 100_000
/** The kernel takes no less. */
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

/** How many processes were killed for want of memory. */
export function memoryKillsOf({ version, path }: GroupFolder): number {
  const file = version === 2 ? 'memory.events' : 'memory.oom_control'
  return figuresIn(tryRead(`${path}/${file}`)).get('oom_kill') ?? 0
}

/** How often a process was refused. */
export const pidsRefusedIn = ({ path }: GroupFolder): number =>
  figuresIn(tryRead(`${path}/pids.events`)).get('max') ?? 0

/** Lets a process into the group: this one, when none is named. */
export const enter = (path: string, pid = 0): void => writeFileSync(`${path}/cgroup.procs`, `${pid}`)

export function pidsIn(path: string): number[] {
  return tryRead(`${path}/cgroup.procs`).split('\n').filter(Boolean).map(Number)
}

/** Version 2 tells it in one word, and counts processes that are still dying. */
export function isEmpty({ version, path }: Pick<GroupFolder, 'version' | 'path'>): boolean {
  if (version === 1) return pidsIn(path).length === 0
  return (figuresIn(tryRead(`${path}/cgroup.events`)).get('populated') ?? 0) === 0
}

/** False where the kernel is too old for it (before 5.14). */
export function killAtOnce({ version, path }: Pick<GroupFolder, 'version' | 'path'>): boolean {
  return version === 2 && existsSync(`${path}/cgroup.kill`) && tryWrite(`${path}/cgroup.kill`, '1')
}

const figuresIn = (text: string): Map<string, number> =>
  new Map(text.split('\n').map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]))

/** False while there is still somebody in it. */
export function tryRemove(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
