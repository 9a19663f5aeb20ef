import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { localContainers } from '../../cwl-runner/container/containers.ts'
import { localFiles } from '../../cwl-runner/files/local-files.ts'
import type { Machine, RunWatch } from '../../cwl-runner/machine.ts'
import { slots } from '../../cwl-runner/slots.ts'
import { bareRuntime } from '../../runtimes/bare/bare.ts'
import { localLauncher } from '../../runtimes/launcher/local-launcher.ts'
import { removeTree } from '../../runtimes/remove/remove-tree.ts'
import { lastingClock, systemClock } from '../process/clock.ts'
import { OWN_LIMITS, openExpressions } from './expressions.ts'

export interface MachineOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Undefined for the number of processors. */
  readonly parallel: number | undefined
  readonly useContainers: boolean
  readonly watch: RunWatch
  readonly signal: AbortSignal
}

/** How much of a command's output is kept for error messages. */
const OUTPUT_BYTES = 1 << 20
/** Our variables that commands inherit by default. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ']

/** Opens this machine for one workflow; closing it removes its rooms. */
export function openCwlMachine(options: MachineOptions): Machine & { close(): Promise<void> } {
  const { env, watch, signal } = options
  const rooms = mkdtempSync(join(realpathSync(tmpdir()), 'windlass-cwl-'))
  const folder = join(rooms, 'launcher')
  mkdirSync(folder)
  const launcher = localLauncher({
    name: basename(rooms),
    folder,
    useGroups: true,
    clock: lastingClock,
    send: (pid, name) => void process.kill(pid, name),
  })
  const known = (names: readonly string[]) =>
    names.flatMap((name) => (env[name] === undefined ? [] : [{ name, value: env[name] }]))
  const user = undefined
  const runtime = bareRuntime({ launcher, clock: systemClock, env: known(PASSED_ON), user, outputBytes: OUTPUT_BYTES })
  const expressions = openExpressions(OWN_LIMITS)
  const all = Object.fromEntries(known(Object.keys(env)).map(({ name, value }) => [name, value]))
  return {
    runtime,
    rooms,
    files: localFiles(rooms),
    expressions: expressions.expressionsOf({ instance: '', submission: '' }, signal),
    outputJsonBytes: OWN_LIMITS.valueBytes,
    slots: slots(options.parallel ?? availableParallelism()),
    containers: options.useContainers
      ? localContainers({ runtime, folder, env: all, user: containerUser() })
      : undefined,
    watch,
    signal,
    async close() {
      await expressions.close()
      await launcher.close()
      await removeTree(rooms)
    },
  }
}

function containerUser(): { uid: number; gid: number } | undefined {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return uid === 0 ? undefined : { uid, gid }
}
