/**
 * The cgroup v2 tests on a machine with cgroup v1: in a virtual machine with Debian's kernel and an emulated processor.
 * Slow (some minutes), and so for correctness only. Needs the Debian packages qemu-system-x86, busybox-static,
 * e2fsprogs, bubblewrap, util-linux and libc-bin; the kernel is downloaded, not installed. Everything is in a temporary
 * folder. Exits with the exit code of the tests; with 0 and the reason where they cannot run. Other tests can be named:
 * node test/rooms/cgroup2-in-guest.ts src/runtimes/bare/bare.test.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireTool } from '../../src/testing/require.ts'
import { bootGuest } from './guest/boot-guest.ts'
import { fetchKernel } from './guest/guest-kernel.ts'
import { guestRoot, PROGRAMS } from './guest/guest-root.ts'

const TOOLS = ['qemu-system-x86_64', 'busybox', 'mke2fs', 'ldd', 'apt-get', 'dpkg', ...PROGRAMS]
const TESTS = ['test/rooms/cgroup2.test.ts', 'test/rooms/cgroup2-docker.test.ts']
const FLAGS = '--testTimeout=300000 --hookTimeout=300000 --no-file-parallelism'

const quoted = (word: string): string => `'${word.replaceAll("'", '')}'`

async function main(runs: readonly (readonly string[])[]): Promise<number> {
  const skipped = (why: string | undefined): number => {
    console.log(`skipped: control groups of version 2 in a guest, for ${why}`)
    return 0
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') return skipped('this is no Linux on x86_64')
  const absent = TOOLS.map(requireTool).find(({ present }) => !present)
  if (absent !== undefined) return skipped(absent.reason)
  const folder = mkdtempSync(join(tmpdir(), 'windlass-guest-'))
  try {
    const kernel = fetchKernel(folder)
    if (typeof kernel === 'string') return skipped(kernel)
    // Each file in a run of its own: a second file in the same run did not start there.
    const command = runs.map((words) => `vitest run ${words.map(quoted).join(' ')} ${FLAGS}`).join(' && ')
    return await bootGuest({ folder, kernel, root: guestRoot(folder, command) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const named = process.argv.slice(2)
process.exitCode = await main(named.length === 0 ? TESTS.map((test) => [test]) : [named])
