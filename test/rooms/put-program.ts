import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Copies a program of this machine into another root file system, to the same path, with its libraries. */
export function putProgram(root: string, program: string): void {
  put(root, program)
  putLibraries(root, program)
}

/** Copies the libraries of a program or library. */
export function putLibraries(root: string, program: string): void {
  const { stdout } = spawnSync('ldd', [realpathSync(program)], { encoding: 'utf8' })
  for (const path of stdout.match(/\/\S+/g) ?? []) put(root, path.replace(/:$/, ''))
}

function put(root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  rmSync(join(root, path), { force: true }) // a symlink there would be followed
  copyFileSync(path, join(root, path)) // the target of a symlink, under the name of the symlink
}
