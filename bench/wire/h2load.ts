/** h2load of nghttp2: repeats one request over several connections, with little CPU time of its own. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tethered } from '../child.ts'
import type { Saturated } from './bazel-load.ts'
import { framed } from './servers/echo.ts'

export interface Repeat {
  readonly path: string
  readonly message: Buffer
  readonly connections: number
  readonly inFlight: number
}

export const MISSING = 'h2load is not installed: apt-get install nghttp2-client (or nghttp2, by other names)'
const LONGEST_RUN_MS = 60_000

export async function h2loadVersion(): Promise<string | undefined> {
  try {
    return (await run(['--version'])).trim()
  } catch {
    return undefined
  }
}

/** The command line, with placeholders for the values that differ from run to run. */
export function h2loadCommand(repeat: Repeat): string {
  const words = argumentsOf(repeat, { calls: 'N', message: 'MESSAGE', port: 'PORT' })
  return `h2load ${words.map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')}`
}

export interface Where {
  readonly port: number
  /** The folder of the file with the message. */
  readonly folder: string
}

export async function h2load(repeat: Repeat, calls: number, { port, folder }: Where): Promise<Saturated> {
  const message = join(folder, repeat.path.replaceAll('/', '-').slice(1))
  await writeFile(message, framed(repeat.message))
  return parse(await run(argumentsOf(repeat, { calls, message, port })), calls)
}

interface Blanks {
  readonly calls: number | string
  readonly message: string
  readonly port: number | string
}

function argumentsOf(repeat: Repeat, { calls, message, port }: Blanks): string[] {
  const shape = `-n ${calls} -c ${repeat.connections} -m ${repeat.inFlight} -w 30 -W 30`.split(' ')
  const headers = ['-H', 'content-type: application/grpc', '-H', 'te: trailers']
  return [...shape, ...headers, '-d', message, `http://127.0.0.1:${port}${repeat.path}`]
}

function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: LONGEST_RUN_MS, killSignal: 'SIGKILL' } as const
    tethered(execFile('h2load', args, options, (error, out) => (error === null ? resolve(out) : reject(error))))
  })
}

const SECONDS = { us: 1e-6, ms: 1e-3, s: 1 }

/**
 * Throws unless every call returned 200. h2load does not see the gRPC status, but the number of data bytes shows it.
 */
function parse(out: string, calls: number): Saturated {
  const finished = /finished in ([\d.]+)(us|ms|s),/.exec(out)
  const data = /\((\d+)\) data/.exec(out)
  if (finished === null || data === null) throw new Error(`h2load said something else:\n${out}`)
  if (!out.includes(`${calls} succeeded, 0 failed, 0 errored, 0 timeout`) || !out.includes(`${calls} 2xx`)) {
    throw new Error(`not every call succeeded:\n${out}`)
  }
  const seconds = Number(finished[1]) * SECONDS[finished[2] as keyof typeof SECONDS]
  return { calls, dataBytes: Number(data[1]), wallMs: seconds * 1000 }
}
