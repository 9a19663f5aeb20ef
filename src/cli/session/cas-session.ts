import { randomBytes } from 'node:crypto'
import type { Terminal } from '../../app/process/terminal.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import { type RpcClient, rpcClient } from '../../client/connection/rpc.ts'
import { serverFault } from '../../client/connection/server-fault.ts'
import type { Target } from '../../client/connection/target.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { dial, serverOf, targetOf } from './dial.ts'
import type { CasServerOptions } from './grid-flags.ts'
import { untilStopped } from './until-stopped.ts'

export interface Session {
  readonly rpcs: RpcClient
  readonly target: Target
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal
  /** A UUID, different each time. */
  readonly newId: () => string
}

/** Runs a command against a server, prints its errors, and closes everything at the end. */
export async function withServer<T>(
  options: CasServerOptions,
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const target = targetOf('--server', serverOf(options, terminal))
  const problem = instanceNameProblem(options.instance)
  if (problem !== undefined) throw invalid(`--instance: the name ${problem}`)
  const channel = dial(target, options)
  return untilStopped(terminal, async (signal) => {
    try {
      await prepareHashing()
      return await work({ rpcs: rpcClient(channel), target, signal, newId })
    } catch (error) {
      throw localFault(serverFault(error, target))
    } finally {
      channel.close()
    }
  })
}

const newId = (): string =>
  randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')

/** A file that cannot be read or written is an error of the environment, not a bug. */
function localFault(error: unknown): unknown {
  const isSystem = error instanceof Error && 'syscall' in error && 'code' in error
  return isSystem ? new FaultError({ kind: 'unavailable', what: error.message }, error) : error
}
