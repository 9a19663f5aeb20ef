import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const FOLDERS = ['bin', 'etc', 'tmp', 'var/tmp', 'proc', 'sys', 'dev', 'root', 'room', 'usr/bin']

/** A root file system of two megabytes, made from a program of this machine, without a registry. */
export function busyboxRootfs(folder: string, busybox: string): string {
  const root = join(folder, 'busybox')
  for (const name of FOLDERS) mkdirSync(join(root, name), { recursive: true })
  copyFileSync(busybox, join(root, 'bin/busybox'))
  chmodSync(join(root, 'bin/busybox'), 0o755)
  const { stdout } = spawnSync(busybox, ['--list'], { encoding: 'utf8' })
  for (const name of stdout.trim().split('\n')) if (name !== 'busybox') symlinkSync('busybox', join(root, 'bin', name))
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n')
  for (const name of ['hosts', 'resolv.conf']) writeFileSync(join(root, 'etc', name), '')
  for (const name of ['tmp', 'var/tmp']) chmodSync(join(root, name), 0o1777)
  return root
}

export interface Import {
  readonly socketPath: string
  readonly root: string
  /** Such as `local/busybox:1`. */
  readonly name: string
  /** Dockerfile instructions. */
  readonly changes?: readonly string[]
}

/** Imports a folder into an engine as an image. */
export async function importImage({ socketPath, root, name, changes = [] }: Import): Promise<void> {
  const [repo = '', tag = ''] = name.split(/:(?=[^:/]+$)/)
  const query = new URLSearchParams({ fromSrc: '-', repo, tag })
  for (const change of changes) query.append('changes', change)
  const packed = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed = await new Promise<string>((resolve, reject) => {
    const headers = { host: 'engine', 'content-type': 'application/x-tar' }
    const asked = request({ socketPath, method: 'POST', path: `/v1.41/images/create?${query}`, headers })
    asked.once('response', (answer) => text(answer).then(resolve, reject))
    asked.once('error', reject)
    packed.stdout.pipe(asked)
  })
  if (!printed.includes('sha256:')) throw new Error(`${name} was not imported: ${printed}`)
}
