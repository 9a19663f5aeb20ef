import { Command, CommanderError } from 'commander'
import type { Terminal } from '../app/process/terminal.ts'
import { version } from '../app/process/version.ts'
import { FaultError } from '../base/fault.ts'
import { nearest } from '../base/nearest.ts'
import { ExitRequest } from './session/verdict.ts'

/** A command file defines the command with its flags and help; its implementation is imported when it runs. */
const COMMANDS: Readonly<Record<string, () => Promise<(terminal: Terminal) => Command>>> = {
  up: async () => (await import('./server/up.ts')).upCommand,
  run: async () => (await import('./run/run.ts')).runCommand,
  cwl: async () => (await import('./cwl/cwl.ts')).cwlCommand,
  server: async () => (await import('./server/server.ts')).serverCommand,
  reload: async () => (await import('./server/reload.ts')).reloadCommand,
  config: async () => (await import('./server/config.ts')).configCommand,
  check: async () => (await import('./check/check.ts')).checkCommand,
  cas: async () => (await import('./cas/cas.ts')).casCommand,
  languages: async () => (await import('./languages/languages.ts')).languagesCommand,
  worker: async () => (await import('./worker/worker.ts')).workerCommand,
  tasks: async () => (await import('./grid/tasks.ts')).tasksCommand,
  task: async () => (await import('./grid/task.ts')).taskCommand,
  workers: async () => (await import('./grid/workers.ts')).workersCommand,
  top: async () => (await import('./grid/top.ts')).topCommand,
  version: async () => (await import('./version.ts')).versionCommand,
}

const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** Runs one command line; returns the exit code. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const program = await programFor(argv, terminal)
  try {
    const [first, second = '-'] = argv
    if (first === 'help' && !second.startsWith('-') && !Object.hasOwn(COMMANDS, second)) program.error(unknown(second))
    if (argv.length === 0) program.outputHelp()
    else await program.parseAsync(argv, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof ExitRequest) return error.exitCode
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    terminal.err(errorText(error, argv.includes('--verbose')))
    return error instanceof FaultError && error.fault.kind === 'invalid' ? EXIT.usage : EXIT.failed
  }
}

const EXAMPLES = `
Examples:
  windlass up                                            a server and a worker, on this machine
  windlass run --input . -- make test                    this folder to the grid, the command there, its output here
  windlass cwl run workflow.cwl job.yml                  a CWL workflow
  windlass worker daemon --server-url http://grid:8980   a worker for a server elsewhere
  windlass config --explain                              every setting with its default and meaning
  windlass run --help                                    more of this, for each command`

/** For an unknown command the parser prints the whole help without the reason. */
function unknown(word: string): string {
  const near = nearest(word, Object.keys(COMMANDS))
  return `error: unknown command '${word}'${near === undefined ? '' : `; did you mean ${near}?`}`
}

async function programFor(argv: readonly string[], terminal: Terminal): Promise<Command> {
  const program = new Command('windlass')
    .description('One execution grid for builds, workflows and code snippets.')
    .version(version(), '-V, --version', 'print the version')
    .helpCommand('help [command]', "print a command's help")
    .addHelpText('after', EXAMPLES)
  const named = argv.find((word) => Object.hasOwn(COMMANDS, word))
  const loads = named === undefined ? Object.values(COMMANDS) : [COMMANDS[named]]
  for (const load of loads) if (load !== undefined) program.addCommand((await load())(terminal))
  speakAlike(program, program.name(), terminal)
  return program
}

/** Sets the format of help and errors, for a command and all below it. */
function speakAlike(command: Command, called: string, terminal: Terminal): void {
  command
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text) => terminal.err(usageLine(text, called)),
    })
  for (const below of command.commands) speakAlike(below, `${called} ${below.name()}`, terminal)
}

/** The parser prints `error: unknown option '--grcp'\n(Did you mean --grpc?)`; our errors are one line. */
const usageLine = (text: string, called: string): string =>
  `windlass: ${text
    .replace(/^error: /, '')
    .trim()
    .replace(/\n\(D(.*)\)$/, '; d$1')} (${called} --help)\n`

/** Prints an error, one line per problem; a bug is marked as one. The stack is printed on request. */
function errorText(error: unknown, verbose: boolean): string {
  if (verbose && error instanceof Error && error.stack !== undefined) return `${error.stack}\n`
  if (!(error instanceof FaultError)) return `windlass: unexpected: ${String(error)} (--verbose prints the stack)\n`
  return error.message
    .split('\n')
    .map((line) => `windlass: ${line}\n`)
    .join('')
}
