import { readFileSync } from 'node:fs'
import type { Limits } from '../../model/command.ts'
import type { LaunchLimits } from '../launcher/launcher.ts'
import type { Room } from './runtime.ts'

/**
 * The limits that a process hands down to those it starts, laid on by prlimit(1) of util-linux on its way to the
 * command: same process, same environment, about a millisecond. Soft and hard at once, so that nobody raises them again.
 * Not among them: memory as address space (programs with a garbage collector reserve far more than they use), and
 * the number of processes (counted per user, over all rooms; and not for root at all).
 */
export function limitedArgv(prlimit: string | undefined, argv: readonly string[], limits: Limits): readonly string[] {
  const flags = limitFlags(limits)
  return prlimit === undefined || flags.length === 0 ? argv : [prlimit, ...flags, '--', ...argv]
}

export function limitFlags({ cpuMs, openFiles, ...limits }: Limits): readonly string[] {
  const fileBytes = mostFileBytes(limits)
  // Processor time is kept for all processes together by looking on; this is the floor under it, should nobody look.
  const seconds = cpuMs === undefined ? undefined : Math.ceil(cpuMs / 1000) + 1
  return [
    ...(seconds === undefined ? [] : [`--cpu=${seconds}:${seconds + 1}`]),
    ...(fileBytes === undefined ? [] : [`--fsize=${Math.trunc(fileBytes)}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${Math.min(Math.trunc(openFiles), mostOpenFiles())}`]),
  ]
}

/** No file is larger than all together may be: that holds between two looks as well. */
function mostFileBytes({ fileBytes, diskBytes }: Limits): number | undefined {
  return fileBytes === undefined || diskBytes === undefined ? (fileBytes ?? diskBytes) : Math.min(fileBytes, diskBytes)
}

/** Those that whoever starts processes sees to. */
export const launchLimits = (limits: Limits): LaunchLimits => ({
  memoryBytes: limits.memoryBytes,
  pids: limits.pids,
  cpuMs: limits.cpuMs,
  cpus: limits.cpus,
  diskBytes: limits.diskBytes,
  outputFloodBytes: limits.outputFloodBytes,
})

/** What counts as the disk space of a room. */
export const foldersOf = ({ path, tmp }: Room): readonly string[] => (tmp === undefined ? [path] : [path, tmp])

/** Nobody but root can have more than was handed down, and asking for it would be refused. */
function mostOpenFiles(): number {
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return hard === undefined ? Number.MAX_SAFE_INTEGER : Number(hard)
}
