import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LauncherFacts } from '../launcher/launcher.ts'
import { makeEtc } from '../namespaces/etc-folder.ts'
import { type IpcWay, ipcSettingsOf } from '../namespaces/ipc-limits.ts'
import { keptLimits, networkFor, networkProblem, notesOn, type RoomRuntimeOptions } from '../namespaces/room-runtime.ts'
import { systemOfMachine } from '../namespaces/system-view.ts'
import { canLimitIpc } from '../namespaces/try-ipc.ts'
import { tryRoom } from '../namespaces/try-room.ts'
import { firstRunnable } from '../run/first-runnable.ts'
import { launchRun } from '../run/launch-run.ts'
import { cancelledBeforeStart, notStarted } from '../run/run-end.ts'
import type { Run, RunEnd, Runtime, RuntimeProbe } from '../run/runtime.ts'
import { sandboxEnd } from './sandbox-end.ts'
import { type SandboxKit, sandboxLaunch } from './sandbox-launch.ts'
import { seccompFilter } from './seccomp/filter.ts'
import { ROOM_RULES, SYSTEM_V_RULES } from './seccomp/rules.ts'

export interface SandboxOptions extends RoomRuntimeOptions {
  /** The architecture, as Node names it. */
  readonly arch: string
}

/**
 * Runs commands in rooms that bubblewrap makes: own processes, users, network and mounts, a read-only system, no
 * capabilities, and a seccomp filter. For untrusted commands.
 */
export function sandboxRuntime(options: SandboxOptions): Runtime {
  const { launcher, clock } = options
  let kit: Promise<SandboxKit> | undefined
  const ready = (): Promise<SandboxKit> => {
    kit ??= makeKit(options)
    kit.catch(() => {}) // reported to each caller of `ready`
    return kit
  }
  void ready()
  let ipcWay: Promise<IpcWay> | undefined
  const ipc = (facts: LauncherFacts): Promise<IpcWay> => (ipcWay ??= ipcWayOf(facts, options, begin))
  const begin = async (run: Run, way: IpcWay, signal: AbortSignal): Promise<RunEnd> => {
    await using network = await networkFor(run, options)
    const order = sandboxLaunch({ run, network }, { ...(await ready()), ipcWay: way }, options)
    if ('what' in order) return notStarted(order.code, order.what)
    if (signal.aborted) return cancelledBeforeStart
    const { limits, hooks, held } = run
    return sandboxEnd(await launchRun({ launcher, clock, order, wallMs: limits.wallMs, hooks, held }, signal), limits)
  }
  const runtime: Runtime = {
    name: 'sandbox',
    async probe(): Promise<RuntimeProbe> {
      try {
        const { facts, takesSizes } = await ready()
        await tryRoom(runtime, options, SECURED)
        const unsized = takesSizes ? [] : ['this bubblewrap (before 0.7) gives /dev/shm no size: memory limits hold it']
        const refused = (await ipc(facts)) === 'refused' ? [NO_SYSTEM_V] : []
        const notes = [...unsized, ...refused, ...notesOn(facts, options)]
        const keeps = { network: true, readOnly: true, rootfs: true, reins: true, terminal: true }
        const limits = keptLimits(facts, options)
        return {
          works: true,
          isolation: 'sandbox',
          limits,
          keeps,
          notes,
          networkProblem: () => networkProblem(options),
        }
      } catch (error) {
        return { works: false, reason: error instanceof Error ? error.message : String(error) }
      }
    },
    expect: () => launcher.expect(),
    async run(run, signal): Promise<RunEnd> {
      const { facts } = await ready()
      return await begin(run, ipcSettingsOf(run, facts).length === 0 ? 'counted' : await ipc(facts), signal)
    },
  }
  return runtime
}

const NO_SYSTEM_V =
  'no control group for memory, and this kernel (before 6.9) lets no room limit System V memory: commands with a memory limit have none'

async function ipcWayOf(
  facts: LauncherFacts,
  { folder }: SandboxOptions,
  begin: (run: Run, way: IpcWay, signal: AbortSignal) => Promise<RunEnd>,
): Promise<IpcWay> {
  if (facts.memory === 'all') return 'counted'
  const never = new AbortController().signal
  return (await canLimitIpc((run) => begin(run, 'limited', never), folder)) ? 'limited' : 'refused'
}

async function makeKit({ launcher, folder, readable = [], arch }: SandboxOptions): Promise<SandboxKit> {
  const [bwrap, prlimit] = await Promise.all([firstRunnable('bwrap'), firstRunnable('prlimit')])
  if (bwrap === undefined) throw new Error('bubblewrap is not installed (no bwrap)')
  if (prlimit === undefined) throw new Error('util-linux is not installed (no prlimit)')
  const bytes = seccompFilter(arch)
  if (bytes === undefined) throw new Error(`no seccomp filter for the architecture ${arch}`)
  const { stdout: words } = await promisify(execFile)(bwrap, ['--help'], { env: {} })
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
    system,
    takesSizes: words.includes('--size '),
    facts: await launcher.facts(),
  }
}

/** The output that a correctly secured room prints: its user, no capabilities, no_new_privs, a filter. */
const SECURED = {
  script: 'id -u; sed -n "s/^\\(CapEff\\|CapBnd\\|NoNewPrivs\\|Seccomp\\):\\s*//p" /proc/self/status',
  says: '1000\n0000000000000000\n0000000000000000\n1\n2\n',
}
