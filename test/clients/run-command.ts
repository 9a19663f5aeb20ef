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

const LONGEST_RUN_MS = 300_000

/** Both of its outputs; throws with the end of them unless the program exits with 0. */
export async function runCommand({ program, args, cwd, env = {} }: Command): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_RUN_MS,
    killSignal: 'SIGKILL',
  })
  const outputs = Promise.all([text(child.stdout), text(child.stderr)])
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  const output = (await outputs).join('')
  if (code === 0) return output
  const last = output.trimEnd().split('\n').slice(-15).join('\n')
  throw new Error(`${program} ${args.slice(0, 3).join(' ')} … ended with ${code ?? signal}:\n${last}`)
}
