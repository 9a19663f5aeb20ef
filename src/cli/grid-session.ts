import type { Terminal } from '../app/terminal.ts'
import { FaultError } from '../base/fault.ts'
import { type GridClient, gridClient } from '../client/grid-client.ts'
import type { GridOptions } from './cas-flags.ts'
import { type Session, withServer } from './cas-session.ts'
import { quietText } from './table.ts'

export interface GridSession extends Session {
  readonly grid: GridClient
}

/** Does something with the grid of a server. The calls name no instance but where one is asked after. */
export const withGrid = <T>(
  options: GridOptions,
  terminal: Terminal,
  work: (session: GridSession) => Promise<T>,
): Promise<T> =>
  withServer({ ...options, instance: '' }, terminal, (session) =>
    work({ ...session, grid: gridClient(session.rpcs, session.signal) }),
  ).catch(withHint)

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/the server does not offer this/, 'this needs a Windlass server that executes: "windlass up" starts one'],
  [/no task is named/, '"windlass tasks" lists those that there are'],
  [/no worker is registered as/, '"windlass workers" lists those that there are'],
]

/** Says what to do next, where that is known. The words are the server's, and end up on somebody's terminal. */
function withHint(error: unknown): never {
  if (!(error instanceof FaultError) || error.fault.kind === 'invalid') throw error
  const lines = error.message.split('\n').map(quietText)
  const hint = HINTS.find(([about]) => about.test(error.message))?.[1]
  throw new FaultError(
    { kind: 'unavailable', what: [...lines, ...(hint === undefined ? [] : [hint])].join('\n') },
    error,
  )
}

/** One line; what is not there is null, so that every answer has the same fields. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value, (_, part: unknown) => (part === undefined ? null : part))}\n`
