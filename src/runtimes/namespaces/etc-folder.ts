import { copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { INSIDE } from '../run/inside.ts'

/** Files that programs need to start; none that identifies the machine or contains secrets. */
const WANTED = [
  ...['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'mime.types', 'protocols', 'services', 'terminfo'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'pki/tls/certs', 'crypto-policies', 'fonts', 'xml', 'sgml'],
  ...['perl', 'python3', 'php', 'R', 'mono', 'java', 'java-11-openjdk', 'java-17-openjdk', 'java-21-openjdk'],
  ...['java-25-openjdk', 'ghc', 'texmf', 'emacs', 'bash.bashrc', 'profile', 'inputrc', 'os-release', 'debian_version'],
]

const { user, uid, gid, hostname } = INSIDE

/** The same on every machine. A room with a network has its own versions of the last two. */
const WRITTEN: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/:/bin/sh\n${user}:x:${uid}:${gid}:${user}:${INSIDE.tmp}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n`,
  group: `root:x:0:\n${user}:x:${gid}:\nnogroup:x:65534:\n`,
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  hostname: `${hostname}\n`,
  'host.conf': 'multi on\n',
  'resolv.conf': '',
  hosts: `127.0.0.1 localhost ${hostname}\n::1 localhost ${hostname}\n`,
}

/** Makes the folder that rooms see as /etc. It is a copy, because it must not change while a room runs. */
export async function makeEtc(folder: string): Promise<string> {
  const etc = join(folder, 'etc')
  await rm(etc, { recursive: true, force: true })
  await mkdir(etc, { recursive: true, mode: 0o755 })
  for (const name of WANTED) {
    mkdirSync(dirname(join(etc, name)), { recursive: true, mode: 0o755 })
    copyOpen(join('/etc', name), join(etc, name))
  }
  for (const [name, text] of Object.entries(WRITTEN)) await writeFile(join(etc, name), text, { mode: 0o644 })
  return etc
}

/**
 * Copies world-readable files and symlinks. Files that cannot be copied are left out: none is essential. The calls are
 * synchronous because thousands of small calls take ten times as long with promises.
 */
function copyOpen(from: string, to: string): void {
  try {
    const found = lstatSync(from)
    if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
    if ((found.mode & 0o004) === 0) return
    if (found.isFile()) copyFileSync(from, to)
    if (!found.isDirectory()) return
    mkdirSync(to, { mode: found.mode & 0o777 })
    for (const name of readdirSync(from)) copyOpen(join(from, name), join(to, name))
  } catch {
    // left out: see above
  }
}
