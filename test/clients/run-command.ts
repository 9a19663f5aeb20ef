import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** The whole environment of the program, besides PATH. */
  readonly env?: NodeJS.ProcessEnv
}

const LONGEST_RUN_MS = 600_000

export interface Ended {
  /** Null when the process was killed. */
  readonly code: number | null
  readonly signal: string | null
  /** Its stdout and stderr. */
  readonly output: string
}

/** Runs a command and returns its end, successful or not. */
export async function runToEnd({ program, args, cwd, env = {} }: Command): Promise<Ended> {
  const child = spawn(program, args, {
    cwd,
    // The mark identifies processes that the program leaves running when the run is interrupted, such as Bazel's
    // server.
    env: { PATH: process.env.PATH, TEST_RUN_MARK: process.env.TEST_RUN_MARK, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_RUN_MS,
    killSignal: 'SIGKILL',
  })
  const outputs = Promise.all([text(child.stdout), text(child.stderr)])
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code, signal, output: (await outputs).join('') }
}

/** Returns stdout and stderr; throws with their last lines unless the program exits with 0. */
export async function runCommand(command: Command): Promise<string> {
  const ended = await runToEnd(command)
  if (ended.code === 0) return ended.output
  throw new Error(`${command.program} ${command.args.slice(0, 3).join(' ')} … ${inWords(ended)}`)
}

/** The exit code or signal, with the last 15 lines of output. */
export const inWords = ({ code, signal, output }: Ended): string =>
  `ended with ${code ?? signal}:\n${output.trimEnd().split('\n').slice(-15).join('\n')}`
