import { processTerminal } from '../app/process/terminal.ts'
import { version } from '../app/process/version.ts'

/** The program. Scripts ask for the version often, so that works without the parser. */
const terminal = processTerminal()
const { argv } = terminal
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) terminal.out(`${version()}\n`)
else terminal.exitWith(await (await import('./program.ts')).run(argv, terminal))
