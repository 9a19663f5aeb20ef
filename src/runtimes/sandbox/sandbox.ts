import type { Limits } from '../../model/command.ts'
import type { LauncherFacts } from '../launcher/launcher.ts'
import type { IpcWay } from '../namespaces/ipc-limits.ts'
import { keptLimits, networkFor, networkProblem, notesOn } from '../namespaces/room-runtime.ts'
import { canLimitIpc } from '../namespaces/try-ipc.ts'
import { tryRoom } from '../namespaces/try-room.ts'
import { type LaunchOutcome, launchRun } from '../run/launch-run.ts'
import { broken, cancelledBeforeStart, innerExit, mustHaveStarted, notStarted, runEnd } from '../run/run-end.ts'
import type { Run, RunEnd, Runtime, RuntimeProbe } from '../run/runtime.ts'
import { makeKit, type SandboxOptions } from './sandbox-kit.ts'
import { sandboxLaunch } from './sandbox-launch.ts'

/**
 * Runs commands in rooms that bubblewrap makes: own processes, users, network and mounts, a read-only system, no
 * capabilities, and a seccomp filter. For untrusted commands.
 */
export function sandboxRuntime(options: SandboxOptions): Runtime {
  const { launcher, clock } = options
  const kit = makeKit(options)
  kit.catch(() => {}) // reported to each caller of `probe` and `run`
  let ipcWay: Promise<IpcWay> | undefined
  const ipc = (facts: LauncherFacts): Promise<IpcWay> => (ipcWay ??= ipcWayOf(facts, options, begin))
  const begin = async (run: Run, way: IpcWay, signal: AbortSignal): Promise<RunEnd> => {
    await using network = run.command.network ? await networkFor(run, options) : undefined
    const order = sandboxLaunch({ run, network, ipcWay: way }, await kit, options)
    if ('what' in order) return notStarted(order.code, order.what)
    if (signal.aborted) return cancelledBeforeStart
    const { limits, hooks, held } = run
    return sandboxEnd(await launchRun({ launcher, clock, order, wallMs: limits.wallMs, hooks, held }, signal), limits)
  }
  const runtime: Runtime = {
    name: 'sandbox',
    async probe(): Promise<RuntimeProbe> {
      try {
        const { facts, takesSizes } = await kit
        await tryRoom(runtime, options, SECURED)
        const unsized = takesSizes ? [] : ['this bubblewrap (before 0.7) gives /dev/shm no size: memory limits hold it']
        const refused = (await ipc(facts)) === 'refused' ? [NO_SYSTEM_V] : []
        const notes = [...unsized, ...refused, ...notesOn(facts, options)]
        const keeps = { network: true, readOnly: true, rootfs: true, control: true, terminal: true }
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
      const { facts } = await kit
      const isCounted = facts.memory === 'all' || run.limits.memoryBytes === undefined
      return await begin(run, isCounted ? 'counted' : await ipc(facts), signal)
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

/** The output that a correctly secured room prints: its user, no capabilities, no_new_privs, a filter. */
const SECURED = {
  script: 'id -u; sed -n "s/^\\(CapEff\\|CapBnd\\|NoNewPrivs\\|Seccomp\\):\\s*//p" /proc/self/status',
  says: '1000\n0000000000000000\n0000000000000000\n1\n2\n',
}

/** Bubblewrap's messages for errors of execvp(3). */
const CODES: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Not a directory': 'ENOTDIR',
  'Exec format error': 'ENOEXEC',
  'Argument list too long': 'E2BIG',
  'Too many levels of symbolic links': 'ELOOP',
  'File name too long': 'ENAMETOOLONG',
  'Is a directory': 'EACCES',
}

/**
 * Bubblewrap exits with 1 when it cannot make the room, and otherwise with the command's exit code; the status pipe
 * distinguishes the two: it contains an exit code only when the command was started.
 */
function sandboxEnd(outcome: LaunchOutcome, limits: Limits): RunEnd {
  const { end, stopped } = outcome
  mustHaveStarted(end, 'sandbox')
  if (end.kind === 'refused') return runEnd(outcome, limits)
  const { exit } = end
  const wasEnded = stopped !== undefined || exit.over !== undefined || exit.signal !== null
  if (!wasEnded && exit.status?.includes('"exit-code"') !== true) return unmade(outcome)
  return runEnd({ ...outcome, end: { kind: 'exited', exit: innerExit(exit) } }, limits)
}

function unmade({ stderr }: LaunchOutcome): RunEnd {
  const printed = Buffer.from(stderr.bytes).toString()
  const [, program, why = ''] = /^bwrap: execvp (.*): ([^:\n]+)\n?$/s.exec(printed) ?? []
  if (program === undefined) throw broken('sandbox', printed)
  const code = CODES[why] ?? 'UNKNOWN'
  const named = JSON.stringify(program.slice(0, 300))
  return notStarted(code, code === 'ENOENT' ? `${named} was not found` : `${named} cannot be run: ${why} (${code})`)
}
