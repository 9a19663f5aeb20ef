import { Argument, Command, Option } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import { addDialFlags, type DialOptions, gathered, instanceFlag, numberFlag } from '../session/dial-flags.ts'

const EXAMPLES = `
Suites:
  reapi   the Remote Execution API v2: Capabilities, CAS, ByteStream, ActionCache, Execution and Operations

Nothing has to be empty or set up: content is made up for each run, and only added to the server. What the server does
not advertise is "not offered", neither passed nor failed. A run leaves some tens of MiB behind. Where the server
executes, small scripts are run on its workers by /bin/sh; --platform names the properties of these workers.

Exit codes:
  0   every behaviour that is offered was seen
  1   a behaviour failed
  2   the server cannot be reached, or the command line is wrong

Examples:
  windlass check reapi --target grpc://127.0.0.1:8980
  windlass check reapi --target grpcs://cache.example.com --ca ca.pem --cert me.pem --key me.key --instance main
  windlass check reapi --target unix:/run/cache.sock --only 'bytestream.*' --level must
  windlass check reapi --target grpc://127.0.0.1:8980 --platform OSFamily=Linux --junit report.xml
  windlass check reapi --list`

/** As the parser returns them. */
export interface CheckOptions extends DialOptions {
  readonly target?: string
  readonly instance: string
  readonly platform?: readonly string[]
  readonly only?: readonly string[]
  readonly level: 'must' | 'should'
  readonly seed?: string
  readonly jobs: string
  readonly deadline: string
  readonly junit?: string
  readonly list?: true
  readonly json?: true
}

export const checkCommand = (terminal: Terminal): Command =>
  addDialFlags(
    new Command('check')
      .description('run the REAPI conformance suite against a server')
      .addArgument(new Argument('<suite>', 'what to check').choices(['reapi'])),
    'it must be named',
  )
    .option('-t, --target <address>', 'the same as --server')
    .addOption(instanceFlag())
    .option('--platform <name=value>', 'a platform property of the test commands; may be repeated', gathered)
    .option('--only <pattern>', 'only behaviours with such an id (* is anything); may be repeated', gathered)
    .addOption(
      new Option('--level <level>', 'only what a server must do, or also what it should')
        .choices(['must', 'should'])
        .default('should', 'should'),
    )
    .option(
      '--seed <text>',
      'make the same content as a run that printed this seed (for a server that has not seen it)',
    )
    .addOption(numberFlag('--jobs <number>', 'checks at the same time', 4))
    .addOption(numberFlag('--deadline <seconds>', 'time for each check', 20))
    .option('--junit <file>', 'write the results as JUnit XML as well')
    .option('--list', 'print the behaviours instead of checking them')
    .option('--json', 'print JSON')
    .option('-v, --verbose', 'show where an error came from')
    .addHelpText('after', EXAMPLES)
    .action(async (_: string, options: CheckOptions) => {
      const { runCheck } = await import('./run.ts')
      await runCheck(options, terminal)
    })
