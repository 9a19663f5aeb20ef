import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where programs lie in rooms, none of which is elsewhere than on the machine. */
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Tells one state of some programs from any other, without starting them; or names the first that is not there. */
export type ToolchainMark = { readonly mark: string } | { readonly absent: string }

export function toolchainMark(programs: readonly string[], folders: readonly string[] = FOLDERS): ToolchainMark {
  const marks: string[] = []
  for (const program of programs) {
    const path = folders.map((folder) => join(folder, program)).find(isProgram)
    if (path === undefined) return { absent: program }
    const real = realpathSync(path)
    const { size, mtimeMs } = statSync(real)
    marks.push(`${real} ${size} ${mtimeMs}`)
  }
  return { mark: marks.join('\n') }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
