import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface GuestKernel {
  readonly image: string
  /** The modules of this kernel. */
  readonly modules: string
}

/** Debian's newest kernel for virtual machines, with few drivers. */
const META = 'linux-image-cloud-amd64'

/** Downloads a kernel from the machine's package sources without installing it; returns the reason when it cannot. */
export function fetchKernel(folder: string): GuestKernel | string {
  const asked = spawnSync('apt-cache', ['depends', META], { encoding: 'utf8' })
  const name = /Depends: (linux-image-\S+)/.exec(asked.stdout ?? '')?.[1]
  if (name === undefined) return `no package ${META} is known here (apt-get update?)`
  const fetched = spawnSync('apt-get', ['-q', 'download', name], { cwd: folder, encoding: 'utf8' })
  const file = readdirSync(folder).find((each) => each.startsWith(name) && each.endsWith('.deb'))
  if (fetched.status !== 0 || file === undefined) return `${name} could not be fetched: ${fetched.stderr ?? ''}`.trim()
  const unpacked = join(folder, 'kernel')
  mkdirSync(unpacked)
  if (spawnSync('dpkg', ['-x', join(folder, file), unpacked]).status !== 0) return `${file} could not be unpacked`
  const image = readdirSync(join(unpacked, 'boot')).find((each) => each.startsWith('vmlinuz'))
  const [version = ''] = readdirSync(join(unpacked, 'lib/modules'))
  if (image === undefined) return `${file} holds no kernel`
  return { image: join(unpacked, 'boot', image), modules: join(unpacked, 'lib/modules', version, 'kernel') }
}
