/** Third-party programs that the user must install. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface OnPath {
  readonly name: string
  /** The project's address, for users who do not have it. */
  readonly home: string
}

type Obtained = { readonly program: string } | { readonly absent: string }

export function findOnPath({ name, home }: OnPath): Obtained {
  // An empty entry means the current folder: a program that is there by chance must not run.
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
