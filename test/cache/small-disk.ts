import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'

const MiB = 1024 * 1024

export interface SmallDisk {
  readonly folder: string
  freeBytes(): number
  /** Fills the rest of the disk, to the last byte, with a file. */
  fill(name: string): void
  take(name: string, bytes: number): void
  free(name: string): void
  unmount(): void
}

/** A file system in memory with a fixed size; returns the reason as a string when none can be mounted. */
export function mountSmallDisk(megabytes: number): SmallDisk | string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-disk-'))
  const mounted = run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true })
    return `no file system can be mounted here: ${mounted.error?.message ?? mounted.stderr.trim()}`
  }
  return {
    folder,
    freeBytes() {
      const { bavail, bsize } = statfsSync(folder)
      return bavail * bsize
    },
    fill: (name) => write(join(folder, name), Number.POSITIVE_INFINITY),
    take: (name, bytes) => write(join(folder, name), bytes),
    free: (name) => rmSync(join(folder, name)),
    unmount() {
      run('umount', ['-l', folder])
      rmSync(folder, { recursive: true })
    },
  }
}

const run = (command: string, args: readonly string[]) => spawnSync(command, args, { encoding: 'utf8' })

function write(path: string, bytes: number): void {
  const fd = openSync(path, 'a')
  try {
    for (let step = MiB, left = bytes; left > 0 && step >= 1; ) {
      try {
        left -= writeSync(fd, Buffer.alloc(Math.min(step, left)))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
        step = Math.floor(step / 2)
      }
    }
  } finally {
    closeSync(fd)
  }
}

/**
 * A suite that needs such a disk; where none can be mounted it is skipped, and the reason printed. Where
 * WINDLASS_REQUIRE names `mount` the suite runs in any case and fails with the error of the mount.
 */
export function describeOnSmallDisk(name: string, suite: () => void): void {
  const tried = mountSmallDisk(1)
  const isRequired = /(^|,)\s*mount\s*(,|$)/.test(process.env.WINDLASS_REQUIRE ?? '')
  if (typeof tried !== 'string') tried.unmount()
  if (typeof tried !== 'string' || isRequired) describe(name, suite)
  else describe(name, { skip: true, meta: { skipReason: tried } }, suite)
}
