import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { requireTool } from '../../../src/testing/require.ts'
import { busyboxRootfs } from '../docker-image.ts'
import { putLibraries, putProgram } from '../put-program.ts'

/** Programs that busybox lacks, or has with other options. */
export const PROGRAMS = ['bwrap', 'prlimit', 'setpriv', 'unshare', 'mount', 'umount']
/** For tests of containers, where the machine has it. */
const DOCKER = ['dockerd', 'containerd', 'containerd-shim-runc-v2', 'runc', 'docker-init']
const PROJECT = join(import.meta.dirname, '../../..')
const PARTS = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'src', 'test/rooms', 'test/workers', 'node_modules']
/** Large packages that the tests do not need. */
const LEFT_OUT = /node_modules\/(@biomejs|@bufbuild\/buf[^/]*|@typescript|playwright-core|dprint-node)(\/|$)/
/** The path of the project in the guest. */
const INSIDE = '/windlass'
/** The guest prints this line with the exit code of the command. */
export const LAST_WORD = 'windlass-guest ended with'

/**
 * A root file system for the guest from this machine's programs and this project; it runs the command and powers off.
 */
export function guestRoot(folder: string, command: string): string {
  const root = busyboxRootfs(folder, requireTool('busybox').command as string)
  for (const name of ['mnt', 'sbin']) mkdirSync(join(root, name))
  // The dynamic loader is expected here, wherever the other libraries are.
  for (const name of ['lib', 'lib64']) {
    mkdirSync(join(root, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(root, name))
  }
  symlinkSync('/bin/busybox', join(root, 'usr/bin/env')) // which scripts use to find their interpreter
  for (const { command } of [...PROGRAMS, ...DOCKER].map(requireTool)) if (command) putProgram(root, command)
  for (const name of PARTS) {
    mkdirSync(dirname(join(root, INSIDE, name)), { recursive: true })
    const filter = (path: string): boolean => !LEFT_OUT.test(path)
    cpSync(join(PROJECT, name), join(root, INSIDE, name), { recursive: true, verbatimSymlinks: true, filter })
  }
  putLibrariesOfProject(root)
  writeFileSync(join(root, 'init'), initOf(command))
  chmodSync(join(root, 'init'), 0o755)
  return root
}

/** The libraries of Node, and of native modules. */
function putLibrariesOfProject(root: string): void {
  const modules = join(root, INSIDE, 'node_modules')
  const native = readdirSync(modules, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.node'))
  for (const path of [process.execPath, ...native.map((name) => join(modules, name))]) putLibraries(root, path)
}

/** The first process: a shell, which reaps orphans while it waits. */
const initOf = (command: string): string => `#!/bin/sh
export PATH=${INSIDE}/node_modules/.bin:/usr/bin:/usr/sbin:/bin:/sbin HOME=/root CI=1 NO_COLOR=1
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts; mount -t tmpfs tmpfs /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
dd if=/dev/zero of=/swap bs=1M count=512 2>/dev/null; chmod 600 /swap; mkswap /swap >/dev/null; swapon /swap
ip link set lo up; hostname guest
cd ${INSIDE}
${command}
echo "${LAST_WORD} $?"
sync; poweroff -f
`
