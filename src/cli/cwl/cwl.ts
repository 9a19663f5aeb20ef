import { Command, InvalidArgumentError } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import { version } from '../../app/process/version.ts'
import { addDialFlags, gathered, instanceFlag } from '../session/dial-flags.ts'
import type { CwlRunFlags } from './run.ts'

const RUN_HELP = `
Runs a CWL process (v1.0, v1.1, v1.2, and the loops of v1.3) on this machine, as many commands at a time as it has
processors. PROCESS is a document, with #name for one of several; JOB is the input object, in YAML or JSON. The output
object goes to standard output, everything else to standard error.

A tool that asks for a container runs by docker or podman. Where there is neither, a tool for which the container is a
hint runs without, and one that requires it is refused.

With --server, commands run on the workers of a server: inputs are sent there, outputs come back, and the server carries
on by itself when the connection breaks. Ctrl+C cancels the run.

Exit codes:
  0    done
  1    the workflow failed, or the documents are wrong
  2    the command line is wrong
  33   it needs something that is not there, or that Windlass does not do
  130  interrupted by Ctrl+C (143 by SIGTERM); a second Ctrl+C leaves at once

Examples:
  windlass cwl run align.cwl job.yml
  windlass cwl run --outdir results --quiet packed.cwl#main job.json >outputs.json
  windlass cwl run --server http://grid:8080 align.cwl job.yml`

/** The commands for workflows in the Common Workflow Language. */
export function cwlCommand(terminal: Terminal): Command {
  const cwl = new Command('cwl')
    .description('run, check and pack CWL workflows')
    .helpCommand(false)
    .addHelpText('after', '\nExamples:\n  windlass cwl run align.cwl job.yml\n  windlass cwl run --help')
  addDialFlags(cwl.command('run'), 'it runs on this machine')
    .description('run a workflow or a tool')
    .argument('<process>', 'the document, or an input object with cwl:tool')
    .argument('[job]', 'the input object')
    .option('--outdir <dir>', 'write the outputs to this directory', '.')
    .option('--quiet', 'print errors only')
    .option('-p, --parallel <number>', 'use at most this many processors', wholeNumber)
    .option('--no-container', 'run no containers: tools that require one are refused')
    .addOption(instanceFlag())
    .option('--label <name=value>', 'a label of the workflow run on the server; may be repeated', gathered)
    .version(`windlass ${version()}`, '--version', 'print the version')
    .addHelpText('after', RUN_HELP)
    .action(async (process: string, job: string | undefined, flags: CwlRunFlags) => {
      const { runCwl } = await import('./run.ts')
      await runCwl({ process, job, flags }, terminal)
    })
  cwl
    .command('validate')
    .description('check documents without running them; errors are printed as file:line:column')
    .argument('<process...>', 'the documents')
    .addHelpText('after', '\nExamples:\n  windlass cwl validate align.cwl tools/*.cwl')
    .action(async (named: string[]) => (await import('./inspect.ts')).validateCwl(named, terminal))
  cwl
    .command('graph')
    .description('print a workflow as a Graphviz graph')
    .argument('<process>', 'the document')
    .addHelpText('after', '\nExamples:\n  windlass cwl graph align.cwl | dot -Tsvg >align.svg')
    .action(async (named: string) => (await import('./inspect.ts')).graphCwl(named, terminal))
  cwl
    .command('pack')
    .description('print a process with everything that it references as one JSON document')
    .argument('<process>', 'the document')
    .addHelpText('after', '\nExamples:\n  windlass cwl pack align.cwl >packed.cwl')
    .action(async (named: string) => (await import('./inspect.ts')).packCwl(named, terminal))
  return cwl
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('it must be a number from 1.')
  return Number(text)
}
