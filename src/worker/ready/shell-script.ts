import { environmentInside, pathInside } from '../../runtimes/run/inside.ts'
import { mustBeRunnable, programProblem, workingDirectoryOf } from '../../runtimes/run/program.ts'
import type { Run } from '../../runtimes/run/runtime.ts'

/** A longer command is started by the sandbox itself, which checks the length of its arguments. */
const MOST_CHARS = 64 * 1024

/**
 * The script that turns a waiting shell into the command of a run. The shell waits in the room, at the root of the
 * inputs. The script is one compound command: the shell reads it from standard input, and parses all of it before it
 * redirects standard input. Undefined for a run that would differ from a run that the sandbox starts.
 */
export function shellScript({ command, room }: Run): string | undefined {
  mustBeRunnable(command)
  const directory = pathInside(workingDirectoryOf(command, room), room)
  const { streams, argv } = unredirected(command.argv) ?? { streams: undefined, argv: command.argv }
  const isSame = streams !== undefined || isFound(argv[0] as string, environmentInside(command, []).get('PATH') ?? '')
  if (!isSame || !command.env.every(({ name }) => isPortable(name))) return undefined
  const commands = [
    `cd ${quoted(directory)}`,
    'unset OLDPWD',
    ...command.env.map(({ name, value }) => `export ${name}=${quoted(value)}`),
    `exec ${streams?.includes('<') ? '' : '</dev/null '}${streams ?? ''}`,
    `exec ${argv.map(quoted).join(' ')}`,
  ]
  const script = `{ ${commands.join('; ')}; }\n`
  return script.length > MOST_CHARS ? undefined : script
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * The shell script that workflows put before a command whose streams are files. The waiting shell opens them itself.
 */
const REDIRECTED = /^exec ((?:(?:<|>|2>)"\$[1-3]" ?){1,3}(?:2>&1)?); shift ([1-3]); exec "\$@"$/

function unredirected(
  argv: readonly string[],
): { readonly streams: string; readonly argv: readonly string[] } | undefined {
  const [shell, flag, script = '', name, ...rest] = argv
  const [, streams, count] = REDIRECTED.exec(script) ?? []
  if (shell !== '/bin/sh' || flag !== '-c' || name !== 'sh' || streams === undefined) return undefined
  const command = rest.slice(Number(count))
  if (command.length === 0) return undefined
  return { streams: streams.replace(/"\$(\d)"/g, (_, at: string) => quoted(rest[Number(at) - 1] ?? '')), argv: command }
}

/** The folders of programs that every room shares with this machine. */
export const SYSTEM_FOLDER = /^\/(usr|bin|sbin)(\/|$)/

/**
 * Only a program that exists is started by the shell. The sandbox reports a missing program; a shell would print
 * another message.
 */
function isFound(program: string, path: string): boolean {
  if (program.startsWith('-')) return false
  if (program.includes('/')) return SYSTEM_FOLDER.test(program) && programProblem(program, '/', '') === undefined
  const folders = path.split(':').filter((folder) => SYSTEM_FOLDER.test(folder))
  return programProblem(program, '/', folders.join(':')) === undefined
}

/** Variables that shells use themselves or do not let a script change. Other names may have no shell syntax. */
const SHELL_VARIABLES =
  /^(_|IFS|PWD|OLDPWD|SHLVL|ENV|PPID|UID|EUID|GROUPS|OPTIND|OPTARG|LINENO|RANDOM|SECONDS|DIRSTACK|FUNCNAME|MAIL.*|PS\d|HIST.*|BASH.*|SHELLOPTS|POSIX.*|LANG|LC_.*)$/

const isPortable = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !SHELL_VARIABLES.test(name)
