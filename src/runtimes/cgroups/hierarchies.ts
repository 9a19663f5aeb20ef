/** A mounted hierarchy of control groups, and the group of this process in it. */
export interface Hierarchy {
  readonly version: 1 | 2
  /** For version 1, the controllers of this mount. For version 2, the group's own file lists them. */
  readonly controllers: readonly string[]
  /** The directory of the group that this process is in. */
  readonly path: string
}

/**
 * Parses `/proc/self/mountinfo` and `/proc/self/cgroup`. Leaves out mounts whose root does not contain the group of
 * this process.
 */
export function hierarchiesOf(mountinfo: string, membership: string): Hierarchy[] {
  const groups = membership
    .split('\n')
    .map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, controllers, path]) => ({ controllers: listed(controllers), path: path as string }))
  return mountsOf(mountinfo).flatMap(({ version, controllers, root, point }): Hierarchy[] => {
    const own = groups.find((group) =>
      version === 2
        ? group.controllers.length === 0
        : group.controllers.length > 0 && group.controllers.every((each) => controllers.includes(each)),
    )
    const below = own && pathBelow(root, own.path)
    if (own === undefined || below === undefined) return []
    return [{ version, controllers: own.controllers, path: `${point}${below}` }]
  })
}

interface Mount {
  readonly version: 1 | 2
  readonly controllers: readonly string[]
  readonly root: string
  readonly point: string
}

/** `36 35 0:30 /root /mount/point rw shared:1 - cgroup cgroup rw,memory` */
function mountsOf(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line): Mount[] => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root, point] = before.split(' ')
    const [type, , options] = after.split(' ')
    if (root === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return []
    return [
      { version: type === 'cgroup2' ? 2 : 1, controllers: listed(options), root: plain(root), point: plain(point) },
    ]
  })
}

const listed = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(','))

/** Decodes octal escapes, which stand for spaces and some other characters. */
const plain = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

function pathBelow(root: string, path: string): string | undefined {
  if (path.includes('/..')) return undefined // a path above the root of our cgroup namespace
  if (root === '/') return path === '/' ? '' : path
  if (path === root) return ''
  return path.startsWith(`${root}/`) ? path.slice(root.length) : undefined
}
