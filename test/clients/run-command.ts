import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** Everything that the program sees of the environment, besides PATH. */
  readonly env?: NodeJS.ProcessEnv
}

const LONGEST_RUN_MS = 600_000

export interface Ended {
  /** Null when it was killed. */
  readonly code: number | null
  readonly signal: string | null
  /** Both of its outputs. */
  readonly output: string
}

/** However it ends. */
export async function runToEnd({ program, args, cwd, env = {} }: Command): Promise<Ended> {
  const child = spawn(program, args, {
    cwd,
    // The mark, so that what the program leaves running is found when the run is interrupted: Bazel's server, for one.
    env: { PATH: process.env.PATH, TEST_RUN_MARK: process.env.TEST_RUN_MARK, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_RUN_MS,
    killSignal: 'SIGKILL',
  })
  const outputs = Promise.all([text(child.stdout), text(child.stderr)])
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code, signal, output: (await outputs).join('') }
}

/** Both of its outputs; throws with the end of them unless the program exits with 0. */
export async function runCommand(command: Command): Promise<string> {
  const ended = await runToEnd(command)
  if (ended.code === 0) return ended.output
  throw new Error(`${command.program} ${command.args.slice(0, 3).join(' ')} … ${inWords(ended)}`)
}

/** How it ended, with the last that it said. */
export const inWords = ({ code, signal, output }: Ended): string =>
  `ended with ${code ?? signal}:\n${output.trimEnd().split('\n').slice(-15).join('\n')}`
