import { FaultError } from '../../base/fault.ts'

/** Handles EEXIST: the file system treats two names as the same, for example because it ignores case. */
export const collided =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EEXIST')
      throw downloadDenied(`${quotedPath(path)} has the same name as another entry on this file system`)
    throw error
  }

export const downloadDenied = (what: string): FaultError => new FaultError({ kind: 'denied', what })

/** The names come from the server and are printed on a terminal. */
export const quotedPath = (text: string): string => JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text)
