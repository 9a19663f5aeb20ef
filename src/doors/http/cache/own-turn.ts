import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { FaultError } from '../../../base/fault.ts'

/**
 * Resolves when the answer is the next on its connection. Requests may be sent before earlier ones are answered, some
 * hundreds in one read of the socket: without this, as many blobs would be opened for a peer that may read none.
 */
export async function ownTurn(c: Context): Promise<void> {
  const { incoming, outgoing } = (c.env ?? {}) as Partial<HttpBindings>
  if (incoming === undefined || outgoing === undefined || outgoing.socket !== null) return
  const isOver = await new Promise<boolean>((resolve) => {
    outgoing.once('socket', () => resolve(false))
    incoming.once('close', () => resolve(true))
    if (incoming.destroyed) resolve(true)
  })
  if (isOver) throw new FaultError({ kind: 'cancelled', what: 'the caller went away' })
}
