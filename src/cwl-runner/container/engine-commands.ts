import { Readable } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import { PLAIN_COMMAND, type RunEnd, type Runtime } from '../../runtimes/run/runtime.ts'
import type { EngineCallOptions, EngineCommands } from './find-engine.ts'

export interface EngineCommandsOptions {
  readonly runtime: Runtime
  /** A working directory for docker and podman. */
  readonly folder: string
  /** The environment of docker and podman, not that of commands in containers. */
  readonly env: Readonly<Record<string, string>>
  readonly clock: Pick<Clock, 'after'>
}

const OUTPUT_BYTES = 64 << 10
const NEVER = new AbortController().signal

export function engineCommands({ runtime, folder, env, clock }: EngineCommandsOptions): EngineCommands {
  let asked = 0
  const run = (argv: readonly string[], { signal = NEVER, input }: EngineCallOptions = {}): Promise<RunEnd> => {
    const room = { name: `containers-${++asked}`, path: folder, tmp: undefined }
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
    const command = { ...PLAIN_COMMAND, argv, env: variables, network: true }
    const hooks = input === undefined ? {} : { stdin: Readable.from([Buffer.from(input)]) }
    return runtime.run({ command, room, limits: { outputBytes: OUTPUT_BYTES }, hooks }, signal)
  }
  return {
    async ask(argv, options) {
      const { exitCode, stdout, stderr } = await run(argv, options)
      const problem = Buffer.from(stderr.bytes).toString().trim().split('\n').at(-1) ?? ''
      return { isDone: exitCode === 0, stdout: Buffer.from(stdout.bytes).toString(), problem }
    },
    async serve(argv, signal) {
      await run(argv, { signal })
    },
    pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
  }
}
