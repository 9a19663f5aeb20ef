import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The folders of programs, equal in rooms and on the machine. */
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/**
 * A text that changes whenever one of the programs changes, found without starting them; or the first absent program.
 */
export type ToolchainMark = { readonly mark: string } | { readonly absent: string }

export interface Programs {
  /** Required programs. */
  readonly programs: readonly string[]
  /** Optional programs. */
  readonly also?: readonly string[]
}

export function toolchainMark({ programs, also = [] }: Programs, folders: readonly string[] = FOLDERS): ToolchainMark {
  const marks = programs.map((program) => markOf(program, folders))
  const absent = programs[marks.indexOf(undefined)]
  if (absent !== undefined) return { absent }
  const others = also.map((program) => markOf(program, folders) ?? `no ${program}`)
  return { mark: [...marks, ...others].join('\n') }
}

function markOf(program: string, folders: readonly string[]): string | undefined {
  const path = folders.map((folder) => join(folder, program)).find(isProgram)
  if (path === undefined) return undefined
  const real = realpathSync(path)
  const { size, mtimeMs } = statSync(real)
  return `${real} ${size} ${mtimeMs}`
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
