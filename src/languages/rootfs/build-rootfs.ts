import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { BuildStep } from './build-step.ts'
import { configurePackages } from './configure-packages.ts'
import { downloadPackages } from './download-packages.ts'
import { unpackPackages } from './unpack-packages.ts'

export interface RootfsRequest {
  readonly packages: readonly string[]
  /** The folder for builds. */
  readonly folder: string
  /** The name of the new one in it. */
  readonly name: string
}

export interface MadeRootfs {
  readonly path: string
  /** The file names of all its packages. */
  readonly packages: readonly string[]
  /** Packages that could not be configured. */
  readonly unset: readonly string[]
}

/** The packages that shell scripts and dpkg need, beside those of the language. */
const GROUND = [
  ...['base-files', 'base-passwd', 'bash', 'coreutils', 'dash', 'debconf', 'diffutils', 'dpkg', 'grep', 'libc-bin'],
  ...['perl-base', 'sed'],
]
/** Removed, because rooms do not need them. */
const NEEDLESS = ['usr/share/doc', 'usr/share/man', 'usr/share/info', 'usr/share/lintian', 'var/cache', 'var/log']
const PACKAGE = /^[a-z0-9][a-z0-9+.-]+(?:=[A-Za-z0-9.+~:-]+)?$/

/**
 * Builds a root file system from Debian packages, for rooms to see instead of the machine's. A failed build is removed.
 */
export async function buildRootfs(order: RootfsRequest, step: BuildStep): Promise<MadeRootfs> {
  for (const name of order.packages)
    if (!PACKAGE.test(name)) throw invalid(`${JSON.stringify(name.slice(0, 100))} is not a package name`)
  mkdirSync(order.folder, { recursive: true, mode: 0o755 })
  const scratch = mkdtempSync(join(order.folder, '.building-'))
  const path = join(order.folder, order.name)
  try {
    mkdirSync(path, { mode: 0o755 })
    const debs = await downloadPackages({ packages: [...GROUND, ...order.packages], folder: scratch }, step)
    await unpackPackages(debs, path, step)
    const unset = await configurePackages(path, step)
    for (const each of NEEDLESS) rmSync(join(path, each), { recursive: true, force: true })
    addUser(path)
    openToAll(path)
    return { path, packages: debs.map((deb) => deb.slice(deb.lastIndexOf('/') + 1, -'.deb'.length)), unset }
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    throw error
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The command's user needs a name in the room. */
function addUser(root: string): void {
  const add = (file: string, line: string): void => {
    const path = join(root, 'etc', file)
    const text = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : ''
    if (!text.includes('runner:')) writeFileSync(path, `${text}${line}\n`)
  }
  add('passwd', 'runner:x:1000:1000:runner:/tmp:/bin/sh')
  add('group', 'runner:x:1000:')
}

/** Rooms run as another user. That user must be able to read everything; setuid bits are removed. */
function openToAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) continue
    const mode = lstatSync(path).mode & 0o777
    const open = mode | 0o444 | (entry.isDirectory() || (mode & 0o100) !== 0 ? 0o111 : 0)
    chmodSync(path, open & ~0o022)
    if (entry.isDirectory()) openToAll(path)
  }
}
