import { Command } from 'commander'
import type { Terminal } from '../app/process/terminal.ts'
import { version } from '../app/process/version.ts'

export const versionCommand = (terminal: Terminal): Command =>
  new Command('version')
    .description('print the version and the platform')
    .addHelpText('after', '\nExamples:\n  windlass version\n  windlass --version     the number alone')
    .action(() => terminal.out(`windlass ${version()} (${terminal.platform})\n`))
