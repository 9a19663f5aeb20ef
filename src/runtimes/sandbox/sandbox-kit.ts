import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LauncherFacts } from '../launcher/launcher.ts'
import { makeEtc } from '../namespaces/etc-folder.ts'
import { belongsToRoot, type RoomRuntimeOptions } from '../namespaces/room-runtime.ts'
import { type ProgramSearch, programSearch, type SystemPart, systemOfMachine } from '../namespaces/system-view.ts'
import { firstRunnable } from '../run/first-runnable.ts'
import { seccompFilter } from './seccomp/filter.ts'
import { ROOM_RULES, SYSTEM_V_RULES } from './seccomp/rules.ts'

export interface SandboxOptions extends RoomRuntimeOptions {
  /** The architecture, as Node names it. */
  readonly arch: string
}

/** Everything that does not depend on a run; made once and shared by all runs. */
export interface SandboxKit {
  readonly bwrap: string
  readonly prlimit: string
  /** The file of the seccomp filter, and of the one that also refuses System V IPC. */
  readonly filter: string
  readonly filterWithoutIpc: string
  /** The arguments of bubblewrap that show the machine's system. */
  readonly systemFlags: readonly string[]
  readonly programProblem: ProgramSearch
  readonly takesSizes: boolean
  /** Rooms run as root. */
  readonly isRoots: boolean
  readonly facts: LauncherFacts
}

export async function makeKit(options: SandboxOptions): Promise<SandboxKit> {
  const { launcher, folder, readable = [], arch } = options
  const [bwrap, prlimit] = await Promise.all([firstRunnable('bwrap'), firstRunnable('prlimit')])
  if (bwrap === undefined) throw new Error('bubblewrap is not installed (no bwrap)')
  if (prlimit === undefined) throw new Error('util-linux is not installed (no prlimit)')
  const bytes = seccompFilter(arch)
  if (bytes === undefined) throw new Error(`no seccomp filter for the architecture ${arch}`)
  const { stdout: help } = await promisify(execFile)(bwrap, ['--help'], { env: {} })
  const etc = await makeEtc(folder)
  const filter = join(folder, 'seccomp.bpf')
  await writeFile(filter, bytes, { mode: 0o644 })
  const filterWithoutIpc = join(folder, 'seccomp-without-ipc.bpf')
  const without = seccompFilter(arch, [...ROOM_RULES, ...SYSTEM_V_RULES])
  await writeFile(filterWithoutIpc, without ?? bytes, { mode: 0o644 })
  const system = systemOfMachine(etc, readable)
  return {
    bwrap,
    prlimit,
    filter,
    filterWithoutIpc,
    systemFlags: system.flatMap(systemFlags),
    programProblem: programSearch(system),
    takesSizes: help.includes('--size '),
    isRoots: belongsToRoot(options),
    facts: await launcher.facts(),
  }
}

export const systemFlags = (part: SystemPart): string[] =>
  part.kind === 'bind' ? ['--ro-bind', part.from, part.to] : ['--symlink', part.target, part.at]
