import { once } from 'node:events'
import { lstat, unlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { FaultError } from '../../base/fault.ts'

/**
 * A killed server leaves its socket file behind, and the next server could not listen. Deletes the file if it is a
 * socket on which no process listens. Any other file stays.
 */
export async function clearStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isSocket()) throw new FaultError({ kind: 'invalid', what: `${path} exists and is not a socket` })
  if (await answers(path)) {
    throw new FaultError({ kind: 'unavailable', what: `another program is listening on unix:${path}` })
  }
  await unlink(path)
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    return codeOf(error) !== 'ECONNREFUSED'
  } finally {
    socket.destroy()
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)
