import type { RoomNetwork } from '../network/room-networks.ts'
import { INSIDE, pathInside, readOnlyPaths } from '../run/inside.ts'
import type { Room } from '../run/runtime.ts'

export interface ApptainerSpec {
  readonly program: string
  readonly room: Room
  /** The working directory, as a path of this machine. */
  readonly cwd: string
  /**
   * The network namespace that Apptainer is started in and that the container keeps; undefined for a container without
   * a network.
   */
  readonly network: RoomNetwork | undefined
  /** A SIF file or a directory of this machine. */
  readonly image: string
  /** The file with the filter of system calls. */
  readonly profile: string
  /** An empty folder, mounted over /proc/1 in the container. */
  readonly empty: string
}

/** Returns the arguments of Apptainer that come before the command. */
export function apptainerArgv({ program, room, cwd, network, image, profile, empty }: ApptainerSpec): string[] {
  return [
    ...[program, '--silent', 'exec'],
    // Apptainer's setuid part is not used: unprivileged user namespaces are sufficient.
    ...['--userns', '--containall', '--no-home', '--cleanenv', '--no-eval', '--no-privs'],
    // Ignores the mounts that the administrator's apptainer.conf adds to every container.
    ...['--no-mount', 'bind-paths,hostfs,cwd,home,tmp,sys'],
    ...(network === undefined ? ['--net', '--network', 'none'] : []),
    ...['--hostname', INSIDE.hostname, '--security', `seccomp:${profile}`],
    ...mounts(room),
    // PID 1 runs as the user of the command, so the command could write to its memory.
    ...mount(empty, '/proc/1', true),
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

/** Encodes one CSV record: a path may contain commas and quotes. */
function mount(from: string, to: string, isClosed: boolean): string[] {
  const fields = ['type=bind', `source=${from}`, `destination=${to}`, ...(isClosed ? ['ro'] : [])]
  return ['--mount', fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')]
}

/** Matches names that a shell accepts as variables. Apptainer sets no others, and refuses some that it uses itself. */
const PLAIN = /^[A-Za-z_]\w*$/
const OWN =
  /^(_|UID|EUID|GID|PPID|PWD|OLDPWD|IFS|SHLVL|OPTIND|LINENO|PATH_(PRE|AP)PEND|(PRE|AP)PEND_PATH|(APPTAINER|SINGULARITY).*)$/

export interface SplitEnvironment {
  /** The environment of Apptainer itself, which passes variables with its prefix on to the container. */
  readonly outer: readonly (readonly [name: string, value: string])[]
  /** Returns arguments for env(1) before the command, for variables that Apptainer would not pass on. */
  readonly inner: readonly string[]
}

/** Singularity uses one prefix, Apptainer the other; both are set. */
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
