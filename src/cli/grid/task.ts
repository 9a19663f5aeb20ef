import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import type { Stdio } from '../output/run-stdio.ts'
import { addGridFlags } from '../session/grid-flags.ts'
import type { TaskCommandOptions } from './task-show.ts'

const HELP = `
A task goes by its short name (1-2f), by its operation, or by the beginning of either.

What it printed is shown as far as it is kept: of a task that runs the last 256 KiB, of one that is over all of it, for as
long as its result is kept. Standard output goes to standard output, standard error to standard error.

Exit codes:
  0   done
  1   there is no such task, or the server refused
  2   the command line is wrong

Examples:
  windlass task 1-2f                 all that is known of it
  windlass task 1-2f --logs          what it printed
  windlass task 1-2f --logs -f       and what it prints until it is over
  windlass task 1-2f --why           what it waits for, or what came of it
  windlass task 1-2f --cancel        for everybody who waits for it`

export const taskCommand = (terminal: Terminal, stdio?: Stdio): Command =>
  addGridFlags(new Command('task'))
    .description('show one task, its output and why it waits; or cancel it')
    .argument('<id>', 'the task')
    .option('-l, --logs', 'show what it printed')
    .option('-f, --follow', 'with --logs: until the task ends')
    .option('--why', 'explain what it waits for, or how it ended')
    .option('--cancel', 'cancel it')
    .addHelpText('after', HELP)
    .action(async (id: string, options: TaskCommandOptions) => {
      const { runTask } = await import('./task-show.ts')
      await runTask(id, options, { terminal, ...(stdio && { stdio }) })
    })
