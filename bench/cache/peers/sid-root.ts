/** A root of Debian's unstable branch, for what no other way brings; see sid-root.sh. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cachePath } from './cache-folder.ts'

const SCRIPT = join(import.meta.dirname, 'sid-root.sh')
const ROOT = cachePath('sid')
const LONGEST_MAKING_MS = 1_200_000

/** Whether a program is there already. */
export const sidHas = (program: string): boolean => existsSync(join(ROOT, 'usr/bin', program))

/** Says why the packages could not be brought in; undefined when they are there. */
export function bringIntoSid(packages: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'making a root file system needs to be root'
  const options = { encoding: 'utf8', timeout: LONGEST_MAKING_MS } as const
  const made = spawnSync(SCRIPT, ['make', ROOT, ...packages], options)
  if (made.status === 0) return undefined
  return `${made.error?.message ?? ''}${made.stderr ?? ''}`.trim().split('\n').slice(-3).join(' ') || 'it failed'
}

/** The words that run a command in the root, with a folder of ours at the same place inside. */
export const inSid = (shared: string, command: readonly string[]): { program: string; args: string[] } => ({
  program: SCRIPT,
  args: ['run', ROOT, shared, ...command],
})
