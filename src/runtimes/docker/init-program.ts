import { chmod, copyFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { firstRunnable, firstRunnableIn } from '../run/first-runnable.ts'

/**
 * Process 1 of a container reaps orphans and returns the command's exit code. It runs as the user of the command, which
 * could write to its memory through /proc/1/mem. Here it is a copy of the engine's own init that can be executed but
 * not read: the kernel makes a process not dumpable when it executes such a file, and closes its memory to processes
 * without CAP_SYS_PTRACE (prctl(2), PR_SET_DUMPABLE; ptrace(2), access mode checking).
 *
 * An empty mount over /proc/1 is no alternative: runc, itself process 1 until then, needs /proc/self after it has
 * mounted it.
 */
const NAMES = {
  docker: ['docker-init', 'tini-static', 'catatonit'],
  podman: ['catatonit', 'docker-init', 'tini-static'],
}
/** Packages of Docker and Podman install their inits in these folders as well as in those for programs. */
const FOLDERS = ['docker', 'podman', 'catatonit'].flatMap((name) =>
  ['/usr/libexec', '/usr/local/libexec', '/usr/lib', '/usr/local/lib'].map((parent) => `${parent}/${name}`),
)
const EXECUTE_ONLY = 0o111

/**
 * Copies an init into `folder`. Returns its path, or undefined where this machine has none that runs in every image.
 */
export async function placeInit(folder: string, engine: keyof typeof NAMES): Promise<string | undefined> {
  const found = await firstStatic(NAMES[engine])
  if (found === undefined) return undefined
  const path = join(folder, 'init')
  await rm(path, { force: true }) // a file that a container executes cannot be written to
  await copyFile(found, path)
  await chmod(path, EXECUTE_ONLY)
  return path
}

async function firstStatic(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const path = (await firstRunnable(name)) ?? (await firstRunnableIn(FOLDERS, name))
    if (path !== undefined && isStatic(await readFile(path))) return path
  }
  return undefined
}

const PROGRAM_HEADERS_AT = 32
const HEADER_BYTES_AT = 54
const HEADER_COUNT_AT = 56
const PT_INTERP = 3

/** An image need not have the loader that a dynamic executable names in a PT_INTERP header (elf(5)). */
export function isStatic(program: Buffer): boolean {
  if (program.readUInt32BE(0) !== 0x7f454c46 || program[4] !== 2 || program[5] !== 1) return false
  const first = Number(program.readBigUInt64LE(PROGRAM_HEADERS_AT))
  const bytes = program.readUInt16LE(HEADER_BYTES_AT)
  const count = program.readUInt16LE(HEADER_COUNT_AT)
  return Array.from({ length: count }, (_, i) => program.readUInt32LE(first + i * bytes)).every(
    (type) => type !== PT_INTERP,
  )
}
