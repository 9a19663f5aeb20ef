import { spawn } from 'node:child_process'
import { FaultError } from '../../base/fault.ts'

export interface ProgramSpec {
  readonly argv: readonly [program: string, ...args: string[]]
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Receives the lines that it writes to descriptor 3. */
  readonly status?: (line: string) => void
  /** Returns an exit code other than 0 instead of throwing. */
  readonly mayFail?: boolean
}

export interface ProgramEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const KEPT = 8 << 20
const LAST_WORDS = 2000

/**
 * Runs a program of this machine to its end. Throws `unavailable`, with the end of its error output, when it fails or
 * is not installed.
 */
export async function runProgram(order: ProgramSpec, signal: AbortSignal): Promise<ProgramEnd> {
  const [program, ...args] = order.argv
  const child = spawn(program, args, {
    env: order.env,
    cwd: order.cwd,
    signal,
    stdio: ['ignore', 'pipe', 'pipe', order.status === undefined ? 'ignore' : 'pipe'],
  })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      if (texts[name].length < KEPT) texts[name] += text
    })
  const { status } = order
  if (status !== undefined) heedLines(child.stdio[3] as NodeJS.ReadableStream, status)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(signal.aborted ? cancelled(error) : unusable(program, error.message, error)))
    child.on('close', resolve)
  })
  if (code !== 0 && order.mayFail !== true)
    throw unusable(program, `exit code ${code}: ${(texts.stderr || texts.stdout).trim().slice(-LAST_WORDS)}`)
  return { code, ...texts }
}

function heedLines(stream: NodeJS.ReadableStream, heed: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) heed(line)
  })
}

const unusable = (program: string, words: string, cause?: unknown): FaultError =>
  new FaultError({ kind: 'unavailable', what: `${program}: ${words}` }, cause)

const cancelled = (cause: unknown): FaultError =>
  new FaultError({ kind: 'cancelled', what: 'the build was stopped' }, cause)
