import { Command, Option } from 'commander'
import { BACKENDS } from '../../app/config/backends.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { DIGEST_FUNCTIONS } from '../../base/digest.ts'
import { addDialFlags, instanceFlag } from '../session/dial-flags.ts'
import type { DaemonFlags } from './daemon.ts'
import type { ExecuteFlags } from './execute.ts'

const DAEMON_HELP = `
A worker takes tasks from a server and runs them here. Ctrl+C lets its tasks finish (300 seconds at most, see
worker.drain_timeout_seconds) and hands back those that have not started; a second one ends it at once. SIGTERM means
that the machine is taken away: the server gives the tasks to other workers at once, and the worker ends within 25 seconds
(worker.drain_seconds).
Commands run in the strongest room that works here, a sandbox if there is bubblewrap; --backend host asks for none.

Examples:
  windlass worker daemon                                       for the server on this machine
  windlass worker daemon --server-url http://server:8980 --slots 4
  windlass worker daemon --server-url http://server:8980 --cas-url http://cache:8980 --backend host --config worker.toml
  windlass worker daemon --protocol http --server-url https://server.example:8080   where nothing but HTTP passes`

const EXECUTE_HELP = `
Fetches an action with its inputs, runs it, and stores its outputs: what a worker does, without a server that asks for it.
The command's own output goes to standard output and error as it comes. The exit code is that of the command.

Examples:
  windlass worker execute --cas-url http://localhost:8980 --action-digest abc123…/456 --work-dir /tmp/test
  windlass worker execute --cas-url http://localhost:8980 --action-digest abc123…/456 --work-dir /tmp/test --json`

const backend = (): Option => new Option('--backend <name>', 'what commands run in').choices(BACKENDS)

/** The commands for workers: one that serves a server, and one action by hand. */
export function workerCommand(terminal: Terminal): Command {
  const worker = new Command('worker')
    .description('run tasks of a server on this machine')
    .helpCommand(false)
    .addHelpText('after', '\nExamples:\n  windlass worker daemon\n  windlass worker execute --help')
  worker.addCommand(daemonCommand(terminal))
  worker.addCommand(executeCommand(terminal))
  return worker
}

const daemonCommand = (terminal: Terminal): Command =>
  addDialFlags(new Command('daemon'))
    .description('run tasks of a server until stopped')
    .option('--server-url <url>', 'the same as --server')
    .option('--cas-url <url>', 'the server for inputs and outputs, if it is another one')
    .addOption(new Option('--protocol <name>', 'how it speaks to the server').choices(['grpc', 'http']))
    .addOption(backend())
    .option('-c, --config <file>', 'read settings from a TOML file')
    .option('--slots <number>', 'tasks to run at a time (one per processor)')
    .option('--id <name>', 'the unique name of this worker')
    .option('--allow-bare-snippets', 'run untrusted code without isolation from this machine')
    .option('--data <dir>', 'keep rooms and inputs below this directory')
    .option('--json', 'print one line of JSON when ready')
    .addOption(new Option('--while-input', 'stop when standard input ends').hideHelp())
    .option('-v, --verbose', 'log more, and show where an error came from')
    .addHelpText('after', DAEMON_HELP)
    .action(async (flags: DaemonFlags) => {
      const { runWorkerDaemon } = await import('./daemon.ts')
      await runWorkerDaemon(flags, terminal)
    })

const executeCommand = (terminal: Terminal): Command =>
  addDialFlags(new Command('execute'))
    .description('run one action from a store, without a scheduling server')
    .option('--cas-url <url>', 'the same as --server: it stores the action and its outputs')
    .requiredOption('--action-digest <digest>', 'hash/size of the Action')
    .requiredOption('--work-dir <dir>', 'a directory for the room and its inputs')
    .addOption(backend().default('auto', 'auto'))
    .addOption(instanceFlag())
    .addOption(
      new Option('--digest-function <name>', 'the digest function (default: by the length of the hash)').choices(
        Object.keys(DIGEST_FUNCTIONS),
      ),
    )
    .option('--json', "print the result as JSON, without the command's output")
    .option('-v, --verbose', 'show where an error came from')
    .addHelpText('after', EXECUTE_HELP)
    .action(async (flags: ExecuteFlags) => {
      const { runWorkerExecute } = await import('./execute.ts')
      await runWorkerExecute(flags, terminal)
    })
