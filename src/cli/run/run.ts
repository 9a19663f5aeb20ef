import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import type { Stdio } from '../output/run-stdio.ts'
import { gathered } from '../session/dial-flags.ts'
import { addDigestFlag, addLimitFlags, addServerFlags } from '../session/grid-flags.ts'
import type { RunOptions } from './action-request.ts'

const HELP = `
Sends the input directory, has the command run by a worker, shows what it prints as it comes, and fetches what it made.
A command that ran before with the same inputs is not run again: its result comes from the cache. The command starts in
the root of the inputs, with the environment that --env gives it and PATH and HOME of the worker. When standard input is a
pipe or a file, the command reads it. Input files are there to be read: what is to change is written anew.

What .gitignore files name is not sent, nor is .git. A .windlassignore is read in the same way and counts before the
.gitignore beside it. --all-files sends everything.

Exit codes:
  …    that of the command
  2    the command line is wrong
  124  it took longer than --timeout
  125  it was not run to its end: no worker fits it, the grid failed, it was cancelled, the server is not there
  130  interrupted by Ctrl+C, and cancelled (143 by SIGTERM); a second Ctrl+C leaves at once

Examples:
  windlass run -- echo hello
  windlass run --input . --output out -- make -C lib
  sort names.txt | windlass run -- uniq -c
  windlass run --input src --output out --output-path app.tgz -- tar czf app.tgz lib
  windlass run --input . --platform OSFamily=Linux --env CC=clang --timeout 5m -- ./configure
  windlass run -s grpc://grid.example.com:8980 --input . --no-cache --json -- ./flaky-test`

/** Runs one command on the grid as if it ran here. */
export const runCommand = (terminal: Terminal, stdio?: Stdio): Command =>
  addLimitFlags(addDigestFlag(addServerFlags(new Command('run'))))
    .description('run a command on the grid')
    .argument('<command...>', 'the program and its arguments, best after --')
    .option('-i, --input <dir>', 'send this directory; without it there are no inputs')
    .option('--all-files', 'send what .gitignore and .windlassignore leave out, too')
    .option('--no-stdin', 'give the command an empty standard input, even when ours is a pipe or a file')
    .option('-o, --output <dir>', 'write the outputs of the command to this directory')
    .option('--output-path <path>', 'fetch only this output, not all new or changed files; may be repeated', gathered)
    .option('--platform <name=value>', 'run only on a worker with this property; may be repeated', gathered)
    .option('-e, --env <name=value>', 'set a variable for the command; may be repeated', gathered)
    .option('--timeout <time>', 'the time limit of the command, such as 30s or 5m')
    .option('--priority <number>', 'lower values run first, among the tasks of one instance')
    .option('--no-cache', 'run it even if the result is cached, and do not cache the result')
    .option('--unsafe-links', 'create symlinks even if they point outside the directory')
    .addHelpText('after', HELP)
    .action(async (argv: string[], options: RunOptions) => {
      const { runOnGrid } = await import('./action.ts')
      await runOnGrid(argv, options, { terminal, ...(stdio && { stdio }) })
    })
