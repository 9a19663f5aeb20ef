import { environmentInside, pathInside } from '../../runtimes/run/inside.ts'
import { mustBeRunnable, programProblem, workingDirectoryOf } from '../../runtimes/run/program.ts'
import type { Run } from '../../runtimes/run/runtime.ts'

/** A longer one is told to a sandbox as it starts, which checks its length. */
const MOST_CHARS = 64 * 1024

/**
 * A run in the words of a shell that stands in its room already, in the root of the inputs, and becomes the command. All is
 * one compound command, for the shell reads these words from its standard input, and has read all of it before it changes
 * that. Undefined for what would not be quite the same as when the sandbox itself had started it.
 */
export function shellScript({ command, room }: Run): string | undefined {
  mustBeRunnable(command)
  const directory = pathInside(workingDirectoryOf(command, room), room)
  const { streams, argv } = unredirected(command.argv) ?? { streams: undefined, argv: command.argv }
  const isSame = streams !== undefined || isFound(argv[0] as string, environmentInside(command, []).get('PATH') ?? '')
  if (!isSame || !command.env.every(({ name }) => isForAll(name))) return undefined
  const words = [
    `cd ${quoted(directory)}`,
    'unset OLDPWD',
    ...command.env.map(({ name, value }) => `export ${name}=${quoted(value)}`),
    `exec ${streams?.includes('<') ? '' : '</dev/null '}${streams ?? ''}`,
    `exec ${argv.map(quoted).join(' ')}`,
  ]
  const script = `{ ${words.join('; ')}; }\n`
  return script.length > MOST_CHARS ? undefined : script
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** What workflows put before a command whose streams are files: a shell that opens them. One shell will do. */
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

/** What every room shows as it is on this machine. */
const SYSTEM = /^\/(usr|bin|sbin)(\/|$)/

/** False for a program that lies among the inputs: the shell of a prepared room cannot start it. */
export const isOfSystem = (program: string): boolean => !program.includes('/') || SYSTEM.test(program)

/** A program that is not there is the sandbox's to tell, and a shell would say it in other words. */
function isFound(program: string, path: string): boolean {
  if (program.startsWith('-')) return false
  if (program.includes('/')) return SYSTEM.test(program) && programProblem(program, '/', '') === undefined
  const folders = path.split(':').filter((folder) => SYSTEM.test(folder))
  return programProblem(program, '/', folders.join(':')) === undefined
}

/** Those that shells give a meaning to, or do not let be changed; and some have no words for other names. */
const SHELLS_OWN =
  /^(_|IFS|PWD|OLDPWD|SHLVL|ENV|PPID|UID|EUID|GROUPS|OPTIND|OPTARG|LINENO|RANDOM|SECONDS|DIRSTACK|FUNCNAME|MAIL.*|PS\d|HIST.*|BASH.*|SHELLOPTS|POSIX.*|LANG|LC_.*)$/

const isForAll = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !SHELLS_OWN.test(name)
