import type { Terminal } from '../../app/process/terminal.ts'
import { FaultError } from '../../base/fault.ts'
import { ServerFault } from '../../client/connection/server-fault.ts'
import { type GridClient, gridClient } from '../../client/execution/grid-client.ts'
import { quietText } from '../output/table.ts'
import { type Session, withServer } from './cas-session.ts'
import type { GridOptions } from './grid-flags.ts'

export interface GridSession extends Session {
  readonly grid: GridClient
}

/** The resource that a command looks up by name, and the command that lists such names. */
type Named = 'tasks' | 'workers'

/** Runs a command against a server's grid. Calls name no instance unless one is requested. */
export const withGrid = <T>(
  options: GridOptions & { readonly named?: Named },
  terminal: Terminal,
  work: (session: GridSession) => Promise<T>,
): Promise<T> =>
  withServer({ ...options, instance: '' }, terminal, (session) =>
    work({ ...session, grid: gridClient(session.rpcs, session.signal) }),
  ).catch((error: unknown) => {
    throw hinted(error, options.named)
  })

/** Adds a suggestion, where one is known. The server's text is printed to a terminal, so it is cleaned. */
function hinted(error: unknown, named: Named | undefined): unknown {
  if (!(error instanceof FaultError) || error.fault.kind === 'invalid') return error
  const lines = error.message.split('\n').map(quietText)
  if (error instanceof ServerFault && error.server === 'unoffered')
    lines.push('this needs a Windlass server that executes: "windlass up" starts one')
  if (error instanceof ServerFault && error.server === 'unknown-name' && named !== undefined)
    lines.push(`"windlass ${named}" lists those that there are`)
  return new FaultError({ kind: 'unavailable', what: lines.join('\n') }, error)
}

/** One line; missing values are null, so that every object has the same fields. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value, (_, part: unknown) => (part === undefined ? null : part))}\n`
