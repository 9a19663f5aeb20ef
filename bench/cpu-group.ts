/**
 * The CPU time of a server and all its descendants. A control group also counts processes whose parents have exited or
 * never waited for them; a sum over the process tree misses those.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Hierarchy, hierarchiesOf } from '../src/runtimes/cgroups/hierarchies.ts'

export interface CpuGroup {
  /** The name of the group below the root, for servers that create groups there (cgroup v1); otherwise undefined. */
  readonly name: string | undefined
  /** The command line that runs `argv` inside the group, with the process ID that it is started with. */
  inside(argv: readonly string[]): readonly string[]
  cpuUs(): number
  remove(): void
}

export type CpuCount = 'cgroup v1' | 'cgroup v2' | 'process tree'

interface Counter {
  readonly count: CpuCount
  readonly parent: string
  read(group: string): number
}

/** cgroup-v1/cpuacct and cgroup-v2: both files count a group with the groups below it. */
export function counterOf(hierarchies: readonly Hierarchy[]): Counter | undefined {
  const one = hierarchies.find(({ version, controllers }) => version === 1 && controllers.includes('cpuacct'))
  if (one !== undefined) {
    return { count: 'cgroup v1', parent: one.path, read: (group) => Number(text(group, 'cpuacct.usage')) / 1e3 }
  }
  const two = hierarchies.find(({ version }) => version === 2)
  if (two === undefined) return undefined
  return { count: 'cgroup v2', parent: two.path, read: (group) => usageIn(text(group, 'cpu.stat')) }
}

/** Reads `usage_usec` from the text of cpu.stat. */
export const usageIn = (stat: string): number => Number(/^usage_usec (\d+)$/m.exec(stat)?.[1] ?? Number.NaN)

const text = (group: string, file: string): string => readFileSync(join(group, file), 'utf8')

const counter = (): Counter | undefined => {
  try {
    return counterOf(hierarchiesOf(text('/proc/self', 'mountinfo'), text('/proc/self', 'cgroup')))
  } catch {
    return undefined // not Linux
  }
}

let made = 0
const groups = new Set<string>()
process.once('exit', () => {
  for (const path of groups) removeGroups(path)
})

/** Returns undefined when this user cannot create a control group. */
export function cpuGroup(): CpuGroup | undefined {
  const found = counter()
  if (found === undefined) return undefined
  const path = join(found.parent, `windlass-bench-${process.pid}-${++made}`)
  const procs = join(path, 'cgroup.procs')
  try {
    mkdirSync(path)
    groups.add(path)
    writeFileSync(procs, '') // an empty write checks the permission
  } catch {
    removeGroups(path)
    return undefined
  }
  return {
    name: found.count === 'cgroup v1' ? basename(path) : undefined,
    inside: (argv) => ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', procs, ...argv],
    cpuUs: () => found.read(path),
    remove: () => removeGroups(path),
  }
}

/** The counting method on this machine. */
export function cpuCount(): CpuCount {
  const group = cpuGroup()
  group?.remove()
  return group === undefined ? 'process tree' : (counter()?.count ?? 'process tree')
}

function removeGroups(path: string): void {
  try {
    const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const { name } of below) removeGroups(join(path, name))
    rmdirSync(path)
    groups.delete(path)
  } catch {
    // a process in it was not reaped yet; the exit hook of this process tries again
  }
}
