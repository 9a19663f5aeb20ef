import { escapePath } from '../../workflow/values/uri.ts'

/** A path of this machine as a location. */
export const fileAddress = (path: string): string => `file://${escapePath(path)}`

/** The path that a location names, or undefined when it is not a file of this machine. */
export function pathOfAddress(location: string): string | undefined {
  const path = /^file:\/\/(?:localhost)?(\/[^?#]*)/i.exec(location)?.[1]
  if (path === undefined) return undefined
  try {
    const plain = decodeURIComponent(path)
    return plain.includes('\0') ? undefined : plain.length > 1 ? plain.replace(/\/+$/, '') : plain
  } catch {
    return undefined
  }
}

export const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
