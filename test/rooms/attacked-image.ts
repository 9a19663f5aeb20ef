import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { whyNoAttacks } from './attack-suite.ts'
import { putProgram } from './put-program.ts'

const PYTHON = '/usr/bin/python3'

/** The reason why no image can be attacked here. */
export function whyNoAttackedImage(): string | undefined {
  const why = whyNoAttacks('ldd')
  if (why !== undefined) return why
  return spawnSync(PYTHON, ['-V']).status === 0 ? undefined : `${PYTHON} is not on this machine`
}

/** Adds what the attacks need besides busybox: a C library, and Python. */
export function addSystem(root: string): void {
  putProgram(root, PYTHON)
  const asked = spawnSync(PYTHON, ['-c', 'import sysconfig; print(sysconfig.get_path("stdlib"))'], { encoding: 'utf8' })
  const library = asked.stdout.trim()
  cpSync(library, join(root, library), { recursive: true, verbatimSymlinks: true })
  symlinkSync('../../bin/busybox', join(root, 'usr/bin/env'))
}
