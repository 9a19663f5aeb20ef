import { readFileSync } from 'node:fs'
import type { Limits } from '../../model/command.ts'
import type { LaunchLimits } from '../launcher/launcher.ts'
import type { Room, Runtime } from './runtime.ts'

/**
 * Inherited limits, set by prlimit(1) of util-linux before the command. It keeps the process and the environment, and
 * takes about 1 ms. Soft and hard limits are equal, so the command cannot raise them. Two limits are not included:
 * memory as address space, because programs with a garbage collector reserve far more than they use; and the number of
 * processes, which the kernel counts per user over all rooms, and not at all for root.
 */
export function limitedArgv(prlimit: string | undefined, argv: readonly string[], limits: Limits): readonly string[] {
  const flags = limitFlags(limits)
  return prlimit === undefined || flags.length === 0 ? argv : [prlimit, ...flags, '--', ...argv]
}

export function limitFlags({ cpuMs, openFiles, ...limits }: Limits): readonly string[] {
  const fileBytes = mostFileBytes(limits)
  // Processor time of all processes together is sampled; this limit per process applies even if sampling fails.
  const seconds = cpuMs === undefined ? undefined : Math.ceil(cpuMs / 1000) + 1
  return [
    ...(seconds === undefined ? [] : [`--cpu=${seconds}:${seconds + 1}`]),
    ...(fileBytes === undefined ? [] : [`--fsize=${Math.trunc(fileBytes)}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${Math.min(Math.trunc(openFiles), mostOpenFiles())}`]),
  ]
}

/** A single file cannot exceed the disk limit, even between two samples. */
function mostFileBytes({ fileBytes, diskBytes }: Limits): number | undefined {
  return fileBytes === undefined || diskBytes === undefined ? (fileBytes ?? diskBytes) : Math.min(fileBytes, diskBytes)
}

/** The limits that the launcher enforces. */
export const launchLimits = (limits: Limits): LaunchLimits => ({
  memoryBytes: limits.memoryBytes,
  pids: limits.pids,
  cpuMs: limits.cpuMs,
  cpus: limits.cpus,
  diskBytes: limits.diskBytes,
  outputFloodBytes: limits.outputFloodBytes,
})

/** The folders that count as a room's disk space. */
export const foldersOf = ({ path, tmp }: Room): readonly string[] => (tmp === undefined ? [path] : [path, tmp])

/** Only root can raise a limit above the inherited one; other users would get an error. */
function mostOpenFiles(): number {
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return hard === undefined ? Number.MAX_SAFE_INTEGER : Number(hard)
}

/** The limits of a run that sets none itself. */
export type DefaultLimits = Required<Pick<Limits, 'memoryBytes' | 'pids'>>

/** Limits memory and processes of every run: a run without limits must not use the whole machine. */
export const limitedByDefault = (inner: Runtime, { memoryBytes, pids }: DefaultLimits): Runtime => ({
  ...inner,
  run(run, signal) {
    const { limits } = run
    const all = { ...limits, memoryBytes: limits.memoryBytes ?? memoryBytes, pids: limits.pids ?? pids }
    return inner.run({ ...run, limits: all }, signal)
  },
})
