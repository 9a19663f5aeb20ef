import { lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { invalid } from '../../base/fault.ts'
import type { Staged, ToolRoom } from '../../workflow/tool/room.ts'
import type { ToolCommand } from '../../workflow/tool/tool-command.ts'
import { isWithin } from '../files/file-address.ts'
import type { LocalFiles } from '../files/local-files.ts'
import type { RoomFolders } from '../files/room-folders.ts'
import { copyTree, mustBeWithin, sourceOf } from '../files/stage.ts'
import type { Mount } from './container-argv.ts'

/** The paths of a room inside a container. */
export function containerPaths(outputDirectory: string | undefined): ToolRoom {
  const outdir = outputDirectory ?? '/var/spool/cwl'
  if (outdir === '/' || !outdir.startsWith('/') || posix.normalize(outdir) !== outdir || outdir.endsWith('/'))
    throw invalid(`dockerOutputDirectory must be an absolute path without detours, not ${JSON.stringify(outdir)}`)
  return { outdir, tmpdir: '/tmp', inputsDir: '/var/lib/cwl/inputs' }
}

export interface ContainerRoom {
  readonly mounts: readonly Mount[]
  /** The file of this machine that a path of the room refers to. */
  onMachine(path: string): string
  /**
   * Called when the command has ended: mounts left empty files behind, and links contain paths of the container. Both
   * become links to the real files.
   */
  settle(): void
}

export async function openContainerRoom(
  command: ToolCommand,
  folders: RoomFolders,
  files: LocalFiles,
): Promise<ContainerRoom> {
  const { outdir, tmpdir, inputsDir } = command.room
  const own: readonly Mount[] = [
    { source: folders.outdir, target: outdir, isWritable: true },
    { source: folders.tmpdir, target: tmpdir, isWritable: true },
    { source: folders.inputsDir, target: inputsDir, isWritable: false },
  ]
  const mounts: Mount[] = [...own]
  const elsewhere = `${folders.base}/elsewhere`
  const hostOf = (path: string): string => {
    const mount = own.find(({ target }) => isWithin(path, target))
    return mount === undefined ? join(elsewhere, path) : mount.source + path.slice(mount.target.length)
  }
  const isOwn = (path: string): boolean => own.some(({ target }) => isWithin(path, target))
  for (const one of command.staged) {
    const host = hostOf(one.path)
    mkdirSync(elsewhere, { recursive: true })
    mustBeWithin(host, folders.base)
    mkdirSync(dirname(host), { recursive: true })
    const mount = await put(one, { host, files, inplaceUpdate: command.inplaceUpdate })
    if (mount !== undefined) mounts.push(mount)
    else if (!isOwn(one.path) && !mounts.some(({ target }) => isWithin(one.path, target)))
      mounts.push({ source: host, target: one.path, isWritable: one.writable })
  }
  const staged = mounts.slice(own.length)
  const onMachine = (path: string): string => {
    const whole = posix.resolve(outdir, path)
    const mount = staged.findLast(({ target }) => isWithin(whole, target))
    return mount === undefined ? hostOf(whole) : mount.source + whole.slice(mount.target.length)
  }
  return {
    mounts,
    onMachine,
    settle() {
      const isInside = (path: string): boolean => mounts.some(({ target }) => isWithin(path, target))
      // First the command's links: ours contain paths of this machine, which may equal paths of the container.
      redirectLinks(folders.outdir, (path) => (isInside(path) ? onMachine(path) : undefined))
      for (const { source, target } of staged) if (isOwn(target)) leaveLink(hostOf(target), source)
    },
  }
}

interface Putting {
  readonly host: string
  readonly files: LocalFiles
  readonly inplaceUpdate: boolean
}

/** A mount needs a mount point; everything else is in the folders of the room itself. */
async function put(one: Staged, { host, files, inplaceUpdate }: Putting): Promise<Mount | undefined> {
  if (one.kind === 'directory') mkdirSync(host, { recursive: true })
  else if (one.kind === 'text') writeFileSync(host, one.contents, { flag: 'wx' })
  else {
    const source = sourceOf(one.location, files)
    if (one.writable && !inplaceUpdate) await copyTree(source, host)
    else {
      if (one.kind === 'tree') mkdirSync(host, { recursive: true })
      else writeFileSync(host, '', { flag: 'wx' })
      return { source: files.look(source)?.real ?? source, target: one.path, isWritable: one.writable }
    }
  }
  return undefined
}

function leaveLink(host: string, source: string): void {
  rmSync(host, { recursive: true, force: true })
  symlinkSync(source, host)
}

function redirectLinks(folder: string, onMachine: (path: string) => string | undefined): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stats = lstatSync(path)
    if (stats.isDirectory()) redirectLinks(path, onMachine)
    if (!stats.isSymbolicLink()) continue
    const target = readlinkSync(path)
    const there = target.startsWith('/') ? onMachine(target) : undefined
    if (there !== undefined && there !== target) leaveLink(path, there)
  }
}
