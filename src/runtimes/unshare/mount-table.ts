import { existsSync, realpathSync } from 'node:fs'
import type { SystemPart } from '../namespaces/system-view.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { INSIDE, pathInside, readOnlyPaths } from '../run/inside.ts'
import type { Room } from '../run/runtime.ts'

/** Mount points for devices: empty files, made once. */
export const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'] as const

/** Only the paths that this kernel has. */
const SWITCHES = ['/proc/sys', '/proc/irq', '/proc/bus', '/proc/sysrq-trigger'].filter((path) => existsSync(path))

const SHM = 'size=64m,mode=1777,nosuid,nodev'
const TMP = 'size=256m,mode=1777,nosuid,nodev'
const BOUND = 'bind,nosuid,nodev,X-mount.mkdir'

export interface MountSpec {
  /** The empty folder that becomes the root. */
  readonly root: string
  /** The folder with the mount points for devices. */
  readonly dev: string
  readonly system: readonly SystemPart[]
  readonly room: Room
  readonly network: RoomNetwork | undefined
  /** The room belongs to root, under another uid. */
  readonly isRoots: boolean
}

/** All mounts of a room, in the format of fstab(5), so that one program mounts them all. */
export function mountTable({ root, dev, system, room, network, isRoots }: MountSpec): string {
  const at = (path: string): string => root + path
  const bind = (from: string, to: string, options = BOUND): string => line(from, at(to), 'none', options)
  const closed = readOnlyPaths(room)
  const isClosed = closed.includes(room.path)
  return [
    line('tmpfs', root, 'tmpfs', 'size=1m,mode=755,nosuid,nodev'),
    ...system.map((part) => (part.kind === 'bind' ? bind(part.from, part.to, `${BOUND},ro`) : linked(part, bind))),
    ...(network?.files ?? []).map(({ from, to }) => bind(from, to, 'bind,ro,nosuid,nodev')),
    line('proc', at('/proc'), 'proc', 'nosuid,nodev,noexec,X-mount.mkdir'),
    // Root could change the settings under any name, so they are mounted read-only.
    ...SWITCHES.map((path) => bind(at(path), path, 'bind,ro,nosuid,nodev,noexec,nofail')),
    // The room's init, which the command must not access.
    line('tmpfs', at('/proc/1'), 'tmpfs', 'ro,size=4k,mode=555,nosuid,nodev,noexec'),
    bind(dev, '/dev', `${BOUND},ro`),
    ...DEVICES.map((name) => bind(`/dev/${name}`, `/dev/${name}`, isRoots ? 'bind,ro,nosuid' : 'bind,nosuid')),
    line('tmpfs', at('/dev/shm'), 'tmpfs', SHM),
    line('devpts', at('/dev/pts'), 'devpts', 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec'),
    room.tmp === undefined
      ? line('tmpfs', at(INSIDE.tmp), 'tmpfs', `${TMP},X-mount.mkdir`)
      : bind(room.tmp, INSIDE.tmp),
    bind(room.path, INSIDE.room, isClosed ? `${BOUND},ro` : BOUND),
    ...(isClosed ? [] : closed.map((path) => bind(path, pathInside(path, room), 'bind,ro,nosuid,nodev'))),
    '',
  ].join('\n')
}

/** A symlink of the machine becomes a bind mount of its target: a program run per symlink would cost more. */
const linked = (part: SystemPart & { kind: 'symlink' }, bind: (from: string, to: string, options: string) => string) =>
  bind(realpathSync(part.at), part.at, `${BOUND},ro`)

const line = (...fields: [what: string, where: string, type: string, options: string]): string =>
  [...fields.map(escaped), '0', '0'].join(' ')

const escaped = (text: string): string =>
  text.replace(/[\s\\#]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)
