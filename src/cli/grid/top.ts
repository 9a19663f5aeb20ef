import { Command } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import { addGridFlags, type GridOptions } from '../session/grid-flags.ts'

const HELP = `
On a terminal it is drawn anew every second, and q or Ctrl+C leaves; anywhere else it is printed once.

Examples:
  windlass top
  windlass top -s grpc://grid.example.com:8980
  windlass top --json | jq .queued`

export const topCommand = (terminal: Terminal): Command =>
  addGridFlags(new Command('top'))
    .description('watch a grid: queue, running tasks, workers and rates')
    .addHelpText('after', HELP)
    .action(async (options: GridOptions) => {
      const { runTop } = await import('./top-view.ts')
      const { processScreen } = await import('../../app/process/screen.ts')
      await runTop(options, terminal, processScreen())
    })
