import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireTool } from '../../../src/testing/require.ts'
import type { GuestKernel } from './guest-kernel.ts'
import { LAST_WORD } from './guest-root.ts'

/** In this order: each module needs those before it. */
const MODULES = [
  ...['virtio', 'virtio_ring', 'virtio_pci_legacy_dev', 'virtio_pci_modern_dev', 'virtio_pci'].map(
    (name) => `drivers/virtio/${name}.ko`,
  ),
  'drivers/block/virtio_blk.ko',
]
/** An emulated processor: nested virtualization may be incomplete, and a kernel then hangs. */
const MACHINE = ['-accel', 'tcg', '-cpu', 'max', '-M', 'q35', '-m', '1536', '-smp', '2', '-nographic', '-no-reboot']
const APPEND = 'console=ttyS0 quiet panic=-1 apparmor=0'
const LONGEST_MS = 1_800_000

export interface Guest {
  readonly folder: string
  readonly kernel: GuestKernel
  /** The folder that becomes its disk. */
  readonly root: string
}

/** Boots the guest and prints its console; returns the exit code of its command. */
export async function bootGuest({ folder, kernel, root }: Guest): Promise<number> {
  const disk = diskOf(folder, root)
  const drive = `file=${disk},format=raw,if=virtio,cache=unsafe`
  const boot = ['-kernel', kernel.image, '-initrd', initrdOf(folder, kernel), '-append', APPEND]
  const child = spawn('qemu-system-x86_64', [...MACHINE, '-nic', 'none', ...boot, '-drive', drive], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  })
  let received = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    process.stdout.write(chunk)
    received = (received + chunk).slice(-10_000)
  }
  const code = new RegExp(`${LAST_WORD} (\\d+)`).exec(received)?.[1]
  if (code === undefined) console.log('the guest has ended without a word')
  return Number(code ?? 1)
}

/** Creates a file system from a folder, without mounting it. */
function diskOf(folder: string, root: string): string {
  const disk = join(folder, 'disk.img')
  writeFileSync(disk, '')
  truncateSync(disk, 4 * 2 ** 30) // a sparse file
  mustWork('mke2fs', ['-q', '-t', 'ext4', '-d', root, disk])
  return disk
}

/** Mounts the disk and switches to it. */
const INIT = `#!/bin/sh
mount -t proc proc /proc; mount -t devtmpfs dev /dev
for each in ${MODULES.map((path) => path.slice(path.lastIndexOf('/') + 1)).join(' ')}; do insmod /$each; done
while [ ! -e /dev/vda ]; do sleep 0.1; done
mount -t ext4 /dev/vda /root
exec switch_root /root /init
`

function initrdOf(folder: string, { modules }: GuestKernel): string {
  const root = join(folder, 'initrd')
  for (const name of ['bin', 'dev', 'proc', 'root']) mkdirSync(join(root, name), { recursive: true })
  copyFileSync(requireTool('busybox').command as string, join(root, 'bin/busybox'))
  for (const path of MODULES) copyFileSync(join(modules, path), join(root, path.slice(path.lastIndexOf('/'))))
  for (const name of ['sh', 'mount', 'insmod', 'sleep', 'switch_root'])
    copyFileSync(join(root, 'bin/busybox'), join(root, 'bin', name))
  writeFileSync(join(root, 'init'), INIT)
  chmodSync(join(root, 'init'), 0o755)
  const packed = join(folder, 'initrd.cpio')
  mustWork('sh', ['-c', 'cd "$0" && find . | busybox cpio -o -H newc > "$1"', root, packed])
  return packed
}

function mustWork(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`)
}
