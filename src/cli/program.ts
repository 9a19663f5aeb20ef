import { Command, CommanderError } from 'commander'
import type { Terminal } from '../app/terminal.ts'
import { version } from '../app/version.ts'
import { FaultError } from '../base/fault.ts'
import { Verdict } from './verdict.ts'

/** A command file makes the command with its flags and help; what it does is imported when it is run. */
const COMMANDS: Readonly<Record<string, () => Promise<(terminal: Terminal) => Command>>> = {
  up: async () => (await import('./up.ts')).upCommand,
  run: async () => (await import('./run.ts')).runCommand,
  cwl: async () => (await import('./cwl.ts')).cwlCommand,
  server: async () => (await import('./server.ts')).serverCommand,
  config: async () => (await import('./config.ts')).configCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  cas: async () => (await import('./cas.ts')).casCommand,
  languages: async () => (await import('./languages.ts')).languagesCommand,
  worker: async () => (await import('./worker.ts')).workerCommand,
  tasks: async () => (await import('./tasks.ts')).tasksCommand,
  task: async () => (await import('./task.ts')).taskCommand,
  workers: async () => (await import('./workers.ts')).workersCommand,
  top: async () => (await import('./top.ts')).topCommand,
  version: async () => (await import('./version.ts')).versionCommand,
}

const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** Runs one command line; the answer is the exit code. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const program = await programFor(argv, terminal)
  try {
    if (argv.length === 0) program.outputHelp()
    else await program.parseAsync(argv, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof Verdict) return error.exitCode
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    terminal.err(tell(error, argv.includes('--verbose')))
    return error instanceof FaultError && error.fault.kind === 'invalid' ? EXIT.usage : EXIT.failed
  }
}

async function programFor(argv: readonly string[], terminal: Terminal): Promise<Command> {
  const program = new Command('windlass')
    .description('One execution grid for builds, workflows and code snippets.')
    .version(version(), '-V, --version', 'print the version')
    .helpCommand('help [command]', "print a command's help")
    .addHelpText(
      'after',
      '\nExamples:\n  windlass up\n  windlass server\n  windlass server --config windlass.toml --verbose\n  windlass help server',
    )
  const named = argv.find((word) => Object.hasOwn(COMMANDS, word))
  const loads = named === undefined ? Object.values(COMMANDS) : [COMMANDS[named]]
  for (const load of loads) if (load !== undefined) program.addCommand((await load())(terminal))
  for (const command of [program, ...program.commands]) {
    command
      .helpOption('-h, --help', 'print this help')
      .exitOverride()
      .configureOutput({
        writeOut: terminal.out,
        writeErr: terminal.err,
        outputError: (text) => terminal.err(usageLine(text)),
      })
  }
  return program
}

/** The parser says `error: unknown option '--grcp'\n(Did you mean --grpc?)`; an error of ours is one line. */
const usageLine = (text: string): string =>
  `windlass: ${text
    .replace(/^error: /, '')
    .trim()
    .replace(/\n\(D(.*)\)$/, '; d$1')} (windlass --help)\n`

/** A fault speaks for itself, a line per problem; a bug is named as one. The stack is for whoever asks for it. */
function tell(error: unknown, verbose: boolean): string {
  if (verbose && error instanceof Error && error.stack !== undefined) return `${error.stack}\n`
  if (!(error instanceof FaultError)) return `windlass: unexpected: ${String(error)} (--verbose says where)\n`
  return error.message
    .split('\n')
    .map((line) => `windlass: ${line}\n`)
    .join('')
}
