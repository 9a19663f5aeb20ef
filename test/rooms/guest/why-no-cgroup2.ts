import { existsSync, readFileSync } from 'node:fs'

/** The mount point of cgroup v2 on machines without v1. */
export const TOP = '/sys/fs/cgroup'

/**
 * The reason why cgroup v2 cannot be tested here. The tests need the root group, as in a guest: a group below it may
 * have fewer controllers.
 */
export function whyNoCgroup2(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root has control groups of version 2 to itself'
  const here = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : ''
  const offered = existsSync(`${TOP}/cgroup.controllers`) ? readFileSync(`${TOP}/cgroup.controllers`, 'utf8') : ''
  if (!['memory', 'pids', 'cpu'].every((each) => offered.includes(each)))
    return 'control groups of this machine are not those of version 2'
  return here.trim() === '0::/' ? undefined : 'these tests do not run in the topmost control group'
}
