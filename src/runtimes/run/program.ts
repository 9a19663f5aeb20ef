import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { Room, RunCommand } from './runtime.ts'

/** Checks that hold on every worker. System calls accept no NUL, and an `=` would end a variable's name. */
export function mustBeRunnable({ argv, env }: RunCommand): void {
  if (argv[0] === undefined || argv[0] === '') throw invalid('the command has no program to run')
  for (const each of argv) mustBeText(each, 'an argument of the command')
  for (const { name, value } of env) {
    mustBeText(name, 'the name of an environment variable')
    mustBeText(value, `the environment variable ${JSON.stringify(name.slice(0, 100))}`)
    if (name === '' || name.includes('='))
      throw invalid(`${JSON.stringify(name.slice(0, 100))} is not the name of an environment variable`)
  }
}

/** The name becomes a directory name and part of an environment variable. */
export function mustBeName(name: string): void {
  if (!/^[A-Za-z0-9][\w.-]{0,199}$/.test(name))
    throw invalid(`${JSON.stringify(name.slice(0, 200))} is no name for a room`)
}

function mustBeText(text: string, what: string): void {
  if (text.includes('\0')) throw invalid(`${what} has a NUL in it`)
  if (!text.isWellFormed()) throw invalid(`${what} is not Unicode`)
}

/**
 * Returns the absolute working directory. It must be a directory of the inputs, and must not lead out through a
 * symlink.
 */
export function workingDirectoryOf({ workingDirectory }: RunCommand, room: Room): string {
  if (workingDirectory === '') return room.path
  const named = JSON.stringify(workingDirectory.slice(0, 200))
  if (workingDirectory.startsWith('/') || workingDirectory.includes('\0') || workingDirectory.split('/').includes('..'))
    throw invalid(`the working directory ${named} is not a path within the inputs`)
  const path = realDirectory(join(room.path, workingDirectory))
  if (path === undefined) throw invalid(`the working directory ${named} is not a directory of the inputs`)
  if (path !== room.path && !path.startsWith(`${room.path}/`))
    throw invalid(`the working directory ${named} leads out of the inputs`)
  return path
}

function realDirectory(path: string): string | undefined {
  try {
    const real = realpathSync.native(path)
    return statSync(real).isDirectory() ? real : undefined
  } catch {
    return undefined
  }
}

export type ProgramProblem = { readonly code: string; readonly what: string }

/** The C library's default search path. */
const DEFAULT_PATH = '/bin:/usr/bin'
/** A limit of folders to search; with a longer PATH the system itself reports a missing program. */
const MOST_FOLDERS = 100

/**
 * Returns why the program cannot be started; undefined when it can, as far as that can be determined beforehand. A name
 * with a slash is relative to the working directory; one without is searched for in the PATH of the command's
 * environment, as execvp(3) does.
 */
export function programProblem(program: string, cwd: string, path: string | undefined): ProgramProblem | undefined {
  const named = JSON.stringify(program.slice(0, 300))
  if (program.includes('/')) {
    const code = problemOf(resolve(cwd, program))
    if (code === undefined) return undefined
    return { code, what: `${named} ${code === 'ENOENT' ? 'is not there' : `cannot be run: ${code}`}` }
  }
  const folders = (path ?? DEFAULT_PATH).split(delimiter)
  if (folders.length > MOST_FOLDERS) return undefined
  let worst = 'ENOENT'
  for (const folder of folders) {
    const code = problemOf(resolve(cwd, folder, program))
    if (code === undefined) return undefined
    if (code !== 'ENOENT' && code !== 'ENOTDIR') worst = code
  }
  const along = path === undefined ? 'the environment has no PATH' : `PATH is ${JSON.stringify(path.slice(0, 500))}`
  return { code: worst, what: `${named} was not found (${along})` }
}

/**
 * Synchronous: the calls take microseconds, and promises take 0.1 ms each. Most folders of a PATH lack the program, and
 * that does not throw.
 */
function problemOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return 'ENOENT'
    if (!found.isFile()) return 'EACCES'
    accessSync(path, constants.X_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
  }
}
