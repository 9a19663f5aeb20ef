/**
 * Runs the Apptainer tests on a machine without Apptainer: in a folder with Debian's unstable branch, which has it. As
 * root only. Exits with the exit code of the tests; with 0 and the reason where they cannot run.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { bringIntoSid, inSid, sidHas } from '../../bench/cache/peers/sid-root.ts'
import { requireTool } from '../../src/testing/require.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PROGRAMS = ['apptainer', 'busybox', 'gcc', 'python3']
/**
 * On some machines only root may use /dev/fuse, which mounts single-file images. This mount namespace gets an open one.
 */
const FUSE = 'mknod -m 666 /tmp/fuse c 10 229 && mount --bind /tmp/fuse /dev/fuse'
const PACKAGES = ['apptainer', 'squashfuse', 'fuse3', 'busybox-static', 'gcc', 'libc6-dev', 'python3']

function main(): number {
  if (requireTool('apptainer').present) {
    console.log('Apptainer is on this machine: its tests run with all others')
    return 0
  }
  const why = PROGRAMS.every(sidHas) ? undefined : bringIntoSid(PACKAGES)
  if (why !== undefined) {
    console.log(`skipped: rooms by Apptainer, for it is not on this machine and could not be brought: ${why}`)
    return 0
  }
  const path = `${ROOT}/node_modules/.bin:/usr/sbin:/usr/bin:/sbin:/bin`
  const script = `[ ! -e /dev/fuse ] || ${FUSE}; cd "$1" && exec vitest run test/rooms/apptainer`
  const tests = ['env', `PATH=${path}`, 'sh', '-c', script, 'sh', ROOT]
  const { program, args } = inSid(ROOT, tests)
  return spawnSync(program, args, { stdio: 'inherit' }).status ?? 1
}

process.exitCode = main()
