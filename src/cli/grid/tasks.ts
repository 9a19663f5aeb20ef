import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import { gathered, numberFlag } from '../session/dial-flags.ts'
import { addGridFlags } from '../session/grid-flags.ts'
import type { TasksOptions } from './tasks-list.ts'

const HELP = `
States: pending, queued, assigned, running, stopping, retrying; completed, failed, timeout, cancelled. A command that
exited with another code than 0 is completed, and its code is shown in place of the state.

Examples:
  windlass tasks                                 the newest 20
  windlass tasks --state running --state queued  what is under way
  windlass tasks --state failed --limit 100
  windlass tasks --watch                         again every second, until Ctrl+C
  windlass tasks --json | jq '.tasks[].task'`

export const tasksCommand = (terminal: Terminal): Command =>
  addGridFlags(new Command('tasks'))
    .description('list the tasks of a grid, the newest first')
    .option('--state <state>', 'only tasks in this state, or in these with commas between; may be repeated', gathered)
    .option('--instance <name>', 'only tasks of this instance; "" is the unnamed one')
    .addOption(numberFlag('--limit <number>', 'the most to list', 20))
    .option('-w, --watch', 'list them again every second')
    .addHelpText('after', HELP)
    .action(async (options: TasksOptions) => {
      const { runTasks } = await import('./tasks-list.ts')
      await runTasks(options, terminal)
    })
