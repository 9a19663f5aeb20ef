import { existsSync, readFileSync } from 'node:fs'

/** Where all control groups of version 2 are, on machines that have no others. */
export const TOP = '/sys/fs/cgroup'

/** Why they cannot be tried here. Needed at the top, as a guest has it: of a group below it we may be given less. */
export function whyNoCgroup2(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root has control groups of version 2 to itself'
  const here = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : ''
  const offered = existsSync(`${TOP}/cgroup.controllers`) ? readFileSync(`${TOP}/cgroup.controllers`, 'utf8') : ''
  if (!['memory', 'pids', 'cpu'].every((each) => offered.includes(each)))
    return 'control groups of this machine are not those of version 2'
  return here.trim() === '0::/' ? undefined : 'these tests do not run in the topmost control group'
}
