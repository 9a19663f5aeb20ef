import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Copies a program of this machine into another system, to the same place, with the libraries that it needs. */
export function putProgram(root: string, program: string): void {
  put(root, program)
  putLibraries(root, program)
}

/** Those of a program, or of a library. */
export function putLibraries(root: string, program: string): void {
  const { stdout } = spawnSync('ldd', [realpathSync(program)], { encoding: 'utf8' })
  for (const path of stdout.match(/\/\S+/g) ?? []) put(root, path.replace(/:$/, ''))
}

function put(root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  rmSync(join(root, path), { force: true }) // a link there would be followed
  copyFileSync(path, join(root, path)) // what a link leads to, under the name of the link
}
