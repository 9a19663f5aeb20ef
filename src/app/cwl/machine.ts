import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Containers } from '../../cwl-runner/container/containers.ts'
import { localFiles } from '../../cwl-runner/files/local-files.ts'
import type { Machine, RunWatch } from '../../cwl-runner/machine.ts'
import { localRooms } from '../../cwl-runner/rooms/local-rooms.ts'
import { bareRuntime } from '../../runtimes/bare/bare.ts'
import { localLauncher } from '../../runtimes/launcher/local-launcher.ts'
import { removeTree } from '../../runtimes/remove/remove-tree.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import { waitingLine } from '../../services/workflows/driver/waiting-line.ts'
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
/** Variables of this process that commands inherit by default. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ']

/** Opens this machine for one workflow; closing it removes its rooms. */
export function openCwlMachine(options: MachineOptions): Machine & { close(): Promise<void> } {
  const { env, watch, signal } = options
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'windlass-cwl-'))
  const [rooms, launching] = [join(folder, 'rooms'), join(folder, 'launcher')]
  for (const each of [rooms, launching]) mkdirSync(each)
  const launcher = localLauncher({
    name: basename(folder),
    folder: launching,
    useGroups: true,
    clock: lastingClock,
    send: (pid, name) => void process.kill(pid, name),
  })
  const passed = PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [{ name, value: env[name] }]))
  const user = undefined
  const runtime = bareRuntime({ launcher, clock: systemClock, env: passed, user, outputBytes: OUTPUT_BYTES })
  const expressions = openExpressions(OWN_LIMITS)
  const containers = options.useContainers ? containersIn(folder, runtime, env) : undefined
  return {
    runtime,
    clock: systemClock,
    rooms: localRooms(rooms),
    folder: rooms,
    files: localFiles(rooms),
    expressions: expressions.expressionsOf({ instance: '', submission: '' }, signal),
    outputJsonBytes: OWN_LIMITS.valueBytes,
    processors: waitingLine(options.parallel ?? availableParallelism()),
    containers,
    watch,
    signal,
    async close() {
      await expressions.close()
      await containers?.close()
      await launcher.close()
      await removeTree(folder)
    },
  }
}

/** Loads the code for containers when a step needs one. */
function containersIn(folder: string, runtime: Runtime, env: MachineOptions['env']): Containers {
  let opened: Containers | undefined
  return {
    async image(docker, signal) {
      const { openContainers } = await import('./containers.ts')
      opened ??= openContainers({ folder, runtime, env, outputBytes: OUTPUT_BYTES })
      return opened.image(docker, signal)
    },
    runtime() {
      if (opened === undefined) throw new Error('a command has an image that nothing has asked for')
      return opened.runtime()
    },
    close: async () => opened?.close(),
  }
}
