import type { RoomNetwork } from '../network/room-networks.ts'
import { INSIDE, pathInside, readOnlyPaths } from '../run/inside.ts'
import type { Room } from '../run/runtime.ts'

export interface ApptainerSpec {
  readonly program: string
  readonly room: Room
  /** The working directory, as it is called outside. */
  readonly cwd: string
  /** The network that Apptainer is started in, for the container to keep; undefined for a container without one. */
  readonly network: RoomNetwork | undefined
  /** A SIF file or a directory of this machine. */
  readonly image: string
  /** The file with the filter of system calls. */
  readonly profile: string
}

/** A container in the words of Apptainer, up to where the command begins. */
export function apptainerArgv({ program, room, cwd, network, image, profile }: ApptainerSpec): string[] {
  return [
    ...[program, '--silent', 'exec'],
    // Never by its setuid part: namespaces of an ordinary user are all that it needs.
    ...['--userns', '--containall', '--no-home', '--cleanenv', '--no-eval', '--no-privs'],
    // Nothing of the machine that its configuration would put into every container.
    ...['--no-mount', 'bind-paths,hostfs,cwd,home,tmp,sys'],
    ...(network === undefined ? ['--net', '--network', 'none'] : []),
    ...['--hostname', INSIDE.hostname, '--security', `seccomp:${profile}`],
    ...mounts(room),
    ...(network?.files ?? []).flatMap(({ from, to }) => mount(from, to, true)),
    ...['--pwd', pathInside(cwd, room), image],
  ]
}

function mounts(room: Room): string[] {
  const closed = readOnlyPaths(room)
  const isClosed = closed.includes(room.path)
  return [
    ...mount(room.path, INSIDE.room, isClosed),
    ...(isClosed ? [] : closed.flatMap((path) => mount(path, pathInside(path, room), true))),
    ...(room.tmp === undefined ? [] : mount(room.tmp, INSIDE.tmp, false)),
  ]
}

/** A record of values set apart by commas, in which a path may have commas, quotes and all else. */
function mount(from: string, to: string, isClosed: boolean): string[] {
  const fields = ['type=bind', `source=${from}`, `destination=${to}`, ...(isClosed ? ['ro'] : [])]
  return ['--mount', fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')]
}

/** What a shell calls a name. It takes no other, and some that it has a use for itself are not to be set. */
const PLAIN = /^[A-Za-z_]\w*$/
const OWN =
  /^(_|UID|EUID|GID|PPID|PWD|OLDPWD|IFS|SHLVL|OPTIND|LINENO|PATH_(PRE|AP)PEND|(PRE|AP)PEND_PATH|(APPTAINER|SINGULARITY).*)$/

export interface SplitEnvironment {
  /** Of Apptainer itself, which hands down what has its prefix. */
  readonly outer: readonly (readonly [name: string, value: string])[]
  /** What goes before the command, for names that it would not hand down. */
  readonly inner: readonly string[]
}

/** Both spellings of the prefix: one program knows the one, its elder the other. */
const PREFIXES = ['APPTAINERENV_', 'SINGULARITYENV_'] as const

export function splitEnvironment(env: ReadonlyMap<string, string>): SplitEnvironment {
  const isPlain = (name: string): boolean => PLAIN.test(name) && !OWN.test(name)
  const plain = [...env].filter(([name]) => isPlain(name))
  const odd = [...env].filter(([name]) => !isPlain(name))
  return {
    outer: plain.flatMap(([name, value]) => PREFIXES.map((prefix) => [`${prefix}${name}`, value] as const)),
    inner: odd.length === 0 ? [] : ['env', ...odd.map(([name, value]) => `${name}=${value}`)],
  }
}
