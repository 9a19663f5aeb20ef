import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import { addGridFlags } from '../session/grid-flags.ts'
import type { WorkersOptions } from './workers-list.ts'

const HELP = `
A worker that is drained finishes what it has, and is given nothing more until it is resumed or starts anew.

Examples:
  windlass workers
  windlass workers --drain host-7               before its machine is worked on
  windlass workers --drain host-7 --shutdown    and have it leave once it is empty
  windlass workers --resume host-7
  windlass workers --json`

export const workersCommand = (terminal: Terminal): Command =>
  addGridFlags(new Command('workers'))
    .description('list the workers of a grid, drain or resume one')
    .option('--drain <id>', 'give this worker no new tasks')
    .option('--shutdown', 'with --drain: end it when its tasks are done')
    .option('--resume <id>', 'give it tasks again')
    .addHelpText('after', HELP)
    .action(async (options: WorkersOptions) => {
      const { runWorkers } = await import('./workers-list.ts')
      await runWorkers(options, terminal)
    })
