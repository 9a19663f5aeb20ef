import { existsSync, realpathSync } from 'node:fs'
import type { SystemPart } from '../namespaces/system-view.ts'
import type { RoomNetwork } from '../network/room-networks.ts'
import { INSIDE, pathInside, readOnlyPaths } from '../run/inside.ts'
import type { Room } from '../run/runtime.ts'

/** What is at the places where devices go: empty files to lay them over, made once. */
export const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'] as const

/** Those that this kernel has. */
const SWITCHES = ['/proc/sys', '/proc/irq', '/proc/bus', '/proc/sysrq-trigger'].filter((path) => existsSync(path))

const SHM = 'size=64m,mode=1777,nosuid,nodev'
const TMP = 'size=256m,mode=1777,nosuid,nodev'
const BOUND = 'bind,nosuid,nodev,X-mount.mkdir'

export interface MountSpec {
  /** The empty folder that becomes the root. */
  readonly root: string
  /** With the places for devices. */
  readonly dev: string
  readonly system: readonly SystemPart[]
  readonly room: Room
  readonly network: RoomNetwork | undefined
  /** The room belongs to root, under another number. */
  readonly isRoots: boolean
}

/** Everything that a room sees, as fstab(5): one program then mounts it all. */
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
    // What root may change there it may change under any name.
    ...SWITCHES.map((path) => bind(at(path), path, 'bind,ro,nosuid,nodev,noexec,nofail')),
    // The first process of the room: nothing of it is the command's business.
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

/** What is a symlink on the machine is a second view of where it leads: a program for each symlink would cost more. */
const linked = (part: SystemPart & { kind: 'symlink' }, bind: (from: string, to: string, options: string) => string) =>
  bind(realpathSync(part.at), part.at, `${BOUND},ro`)

const line = (...fields: [what: string, where: string, type: string, options: string]): string =>
  [...fields.map(escaped), '0', '0'].join(' ')

const escaped = (text: string): string =>
  text.replace(/[\s\\#]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)
