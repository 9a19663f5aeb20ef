import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import { type BindAddress, parseAddress } from '../config/bind-address.ts'
import { clearStaleSocket } from '../process/socket-file.ts'

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is listening there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not listen there',
  ENOTFOUND: 'no machine of that name is known',
  ENOENT: 'its directory does not exist',
}

/** Listens at a configured address; errors name the flag that changes it. */
export async function listenAt<T>(text: string, flag: string, listen: (at: BindAddress) => Promise<T>): Promise<T> {
  const address = parseAddress(text)
  if (address === undefined) throw new FaultError({ kind: 'invalid', what: `${flag}: ${text} is not an address` })
  if ('path' in address) await clearStaleSocket(address.path)
  try {
    return await listen(address)
  } catch (error) {
    const code = isHomeless(address) ? 'ENOENT' : error instanceof Error && 'code' in error ? String(error.code) : ''
    const why = WHY[code] ?? (error instanceof Error ? error.message : String(error))
    const what = `cannot listen on ${text}: ${why}; choose another address with ${flag} (port 0 takes a free one)`
    throw new FaultError({ kind: 'unavailable', what }, error)
  }
}

/** Node reports EACCES for a socket file whose directory does not exist. */
const isHomeless = (address: BindAddress): boolean => 'path' in address && !existsSync(dirname(address.path))
