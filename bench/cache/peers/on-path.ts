/** Programs that others wrote and that only the user of this machine can have brought. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface OnPath {
  readonly name: string
  /** Who publishes it, for whoever misses it. */
  readonly home: string
}

type Obtained = { readonly program: string } | { readonly absent: string }

export function findOnPath({ name, home }: OnPath): Obtained {
  // An empty entry would mean the current folder: what lies there by chance is not run.
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const program = folders.map((folder) => join(folder, name)).find(isProgram)
  return program === undefined ? { absent: `not at hand: no ${name} on PATH (${home})` } : { program }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
