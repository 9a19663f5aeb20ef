import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hierarchiesOf } from '../../src/runtimes/cgroups/hierarchies.ts'

export interface CountingGroup {
  readonly path: string
  /** Moves a process into the group; the processes that it starts later are counted too. */
  add(pid: number): void
  remove(): void
}

/**
 * A control group that counts the CPU time of its processes and all their descendants, also of those whose parents did
 * not wait for them. Returns undefined when none can be created. The hierarchy of `cpuacct`, if mounted, is preferred:
 * a worker creates no groups there.
 */
export function countingGroup(name: string): CountingGroup | undefined {
  const read = (file: string): string => readFileSync(file, 'utf8')
  const all = hierarchiesOf(read('/proc/self/mountinfo'), read('/proc/self/cgroup'))
  const parent =
    all.find(({ version, controllers }) => version === 1 && controllers.includes('cpuacct'))?.path ??
    all.find(({ version }) => version === 2)?.path
  if (parent === undefined) return undefined
  const path = join(parent, name)
  try {
    mkdirSync(path)
  } catch {
    return undefined
  }
  return { path, add: (pid) => writeFileSync(`${path}/cgroup.procs`, `${pid}`), remove: () => removeGroups(path) }
}

/** The CPU time of a counting group, in ms. */
export function cpuMsOf(path: string): number {
  try {
    return Number(readFileSync(`${path}/cpuacct.usage`, 'utf8')) / 1e6
  } catch {
    return Number(/^usage_usec (\d+)$/m.exec(readFileSync(`${path}/cpu.stat`, 'utf8'))?.[1]) / 1000
  }
}

function removeGroups(path: string): void {
  const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name } of below) removeGroups(join(path, name))
  try {
    rmdirSync(path)
  } catch {
    // a process is still exiting in it; empty groups cost nothing
  }
}
