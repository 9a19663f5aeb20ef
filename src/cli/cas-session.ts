import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lastingClock } from '../app/clock.ts'
import type { Terminal } from '../app/terminal.ts'
import { FaultError, invalid } from '../base/fault.ts'
import { prepareHashing } from '../base/hashing/create-hasher.ts'
import { connect } from '../client/connect.ts'
import { type RpcClient, rpcClient } from '../client/rpc.ts'
import { serverFault } from '../client/server-fault.ts'
import { parseTarget, type Target } from '../client/target.ts'
import { instanceNameProblem } from '../model/instance-name.ts'
import type { ServerOptions } from './cas-flags.ts'
import { Verdict } from './verdict.ts'

export interface Session {
  readonly rpcs: RpcClient
  readonly target: Target
  /** Aborts when the person at the terminal has enough. */
  readonly signal: AbortSignal
  /** A UUID, different each time. */
  readonly newId: () => string
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
const SIGNALS = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[]

/** Does something with a server, tells its faults in words, and lets go of everything in the end. */
export async function withServer<T>(
  options: ServerOptions,
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const target = targetOf(options)
  const channel = dial(target, options)
  const leaving = new AbortController()
  let code: number | undefined
  const heed = (signal: keyof typeof EXIT_CODES): void => {
    if (code !== undefined) terminal.signals.exit(EXIT_CODES[signal]) // asked twice: no tidying up then
    code = EXIT_CODES[signal]
    leaving.abort()
  }
  for (const signal of SIGNALS) terminal.signals.on(signal, heed)
  try {
    await prepareHashing()
    return await work({ rpcs: rpcClient(channel), target, signal: leaving.signal, newId })
  } catch (error) {
    if (code !== undefined) throw new Verdict(code)
    throw localFault(serverFault(error, target))
  } finally {
    for (const signal of SIGNALS) terminal.signals.off(signal, heed)
    channel.close()
  }
}

const newId = (): string =>
  randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')

/** Files that cannot be read or written are nobody's bug. */
function localFault(error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error && 'code' in error
  return isSystem ? new FaultError({ kind: 'unavailable', what: error.message }, error) : error
}

function targetOf({ server, instance }: ServerOptions): Target {
  const target = parseTarget(server)
  if (target === undefined)
    throw invalid(`--server: ${server} is none of grpc://host:port, grpcs://host:port and unix:/path`)
  const problem = instanceNameProblem(instance)
  if (problem !== undefined) throw invalid(`--instance: the name ${problem}`)
  return target
}

function dial(target: Target, { ca, cert, key, header = [] }: ServerOptions): ReturnType<typeof connect> {
  const tls = { ...pem('ca', ca), ...pem('cert', cert), ...pem('key', key) }
  if (!target.secure && Object.keys(tls).length > 0) throw invalid('--ca, --cert and --key are for grpcs:// servers')
  // A call that waits for a connection may be all that the program does.
  return connect(target, { clock: lastingClock, tls, headers: Object.fromEntries(header.map(headerOf)) })
}

function pem(flag: 'ca' | 'cert' | 'key', file: string | undefined): Record<string, string> {
  if (file === undefined) return {}
  try {
    return { [flag]: readFileSync(file, 'utf8') }
  } catch (error) {
    throw invalid(`--${flag}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function headerOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw invalid(`--header: ${text} is not name=value`)
  return [text.slice(0, at).toLowerCase(), text.slice(at + 1)]
}
