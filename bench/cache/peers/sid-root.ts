/** A root file system of Debian unstable, for programs that are not available otherwise; see sid-root.sh. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cachePath } from './cache-folder.ts'

const SCRIPT = join(import.meta.dirname, 'sid-root.sh')
const ROOT = cachePath('sid')
const LONGEST_MAKING_MS = 1_200_000

/** Whether a program is installed in it. */
export const sidHas = (program: string): boolean => existsSync(join(ROOT, 'usr/bin', program))

/** Installs packages in it. Returns the reason when this fails, otherwise undefined. */
export function bringIntoSid(packages: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'making a root file system needs to be root'
  const options = { encoding: 'utf8', timeout: LONGEST_MAKING_MS } as const
  const made = spawnSync(SCRIPT, ['make', ROOT, ...packages], options)
  if (made.status === 0) return undefined
  return `${made.error?.message ?? ''}${made.stderr ?? ''}`.trim().split('\n').slice(-3).join(' ') || 'it failed'
}

/** The command line that runs a command in the root file system, with the folder `shared` at the same path. */
export const inSid = (shared: string, command: readonly string[]): { program: string; args: string[] } => ({
  program: SCRIPT,
  args: ['run', ROOT, shared, ...command],
})
