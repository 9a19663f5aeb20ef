import { readFileSync } from 'node:fs'
import type { Limits } from '../model/command.ts'

/**
 * The limits that a process hands down to those it starts, laid on by prlimit(1) of util-linux on its way to the
 * command: same process, same environment, about a millisecond. Soft and hard at once, so that nobody raises them again.
 * Not among them: memory as address space (programs with a garbage collector reserve far more than they use), and
 * the number of processes (counted per user, over all rooms; and not for root at all).
 */
export function limitedArgv(prlimit: string | undefined, argv: readonly string[], limits: Limits): readonly string[] {
  const { cpuMs, fileBytes, openFiles } = limits
  // Processor time is kept for all processes together by looking on; this is the floor under it, should nobody look.
  const seconds = cpuMs === undefined ? undefined : Math.ceil(cpuMs / 1000) + 1
  const flags = [
    ...(seconds === undefined ? [] : [`--cpu=${seconds}:${seconds + 1}`]),
    ...(fileBytes === undefined ? [] : [`--fsize=${Math.trunc(fileBytes)}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${Math.min(Math.trunc(openFiles), mostOpenFiles())}`]),
  ]
  return prlimit === undefined || flags.length === 0 ? argv : [prlimit, ...flags, '--', ...argv]
}

/** Nobody but root can have more than was handed down, and asking for it would be refused. */
function mostOpenFiles(): number {
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return hard === undefined ? Number.MAX_SAFE_INTEGER : Number(hard)
}
