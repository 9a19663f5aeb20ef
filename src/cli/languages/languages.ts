import { Command } from 'commander'
import { BACKENDS } from '../../app/config/backends.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { nearest } from '../../base/nearest.ts'
import type { LanguagesBuildFlags } from './build.ts'
import type { LanguagesFlags } from './list.ts'

const HELP = `
A worker offers the languages that are on its machine and whose self-test passes in its rooms. This shows what a worker
on this machine would offer, and how to get the rest. Each language is a file; files of your own in the folder
"languages" of the data directory add to them, or take the place of those of the same name.

Examples:
  windlass languages
  windlass languages --json
  windlass languages test python c++
  windlass languages build python-data`

const BUILD_HELP = `
Makes a system of Debian packages in which the language finds its libraries: rooms see it in place of the machine's. It
needs no root, and changes nothing of the machine; apt-get and bubblewrap must be there. Workers use it from their next
start on.

Examples:
  windlass languages build python-data
  windlass languages build python --packages python3-requests,python3-yaml
  windlass languages build python --packages python3-sympy --as python-sympy
  windlass languages build r --from /srv/r-with-everything`

/** The commands for languages on this machine. */
export function languagesCommand(terminal: Terminal): Command {
  const languages = new Command('languages')
    .description('list and test the languages of this machine, add libraries to them')
    .helpCommand(false)
    .addHelpText('after', HELP)
  addPlaceFlags(languages.command('list', { isDefault: true }))
    .description('show which languages work here')
    .addHelpText('after', '\nExamples:\n  windlass languages list\n  windlass languages list --backend host --json')
    .option('--json', 'print one JSON document')
    .allowExcessArguments()
    .action(async (flags: LanguagesFlags, list: Command) => {
      // An unknown command becomes an argument of the default command.
      const [word] = list.args
      if (word !== undefined) languages.error(`error: unknown command '${word}'${meant(word)}`)
      const { listLanguages } = await import('./list.ts')
      await listLanguages(flags, terminal)
    })
  addPlaceFlags(languages.command('test'))
    .description('run the self-tests again, of all or of the named languages')
    .argument('[name...]', 'names of languages')
    .addHelpText('after', '\nExamples:\n  windlass languages test\n  windlass languages test python c++')
    .option('--json', 'print one JSON document')
    .action(async (names: string[], flags: LanguagesFlags) => {
      const { testLanguages } = await import('./list.ts')
      await testLanguages(names, flags, terminal)
    })
  addPlaceFlags(languages.command('build'))
    .description('build a root file system with libraries for a language')
    .argument('<name>', 'the name of the language')
    .option('--packages <names>', 'Debian packages, with commas between')
    .option('--as <name>', 'add it as a new language instead of changing the existing one')
    .option('--from <dir>', 'use an existing root file system in this folder')
    .addHelpText('after', BUILD_HELP)
    .action(async (name: string, flags: LanguagesBuildFlags) => {
      const { runLanguagesBuild } = await import('./build.ts')
      await runLanguagesBuild(name, flags, terminal)
    })
  return languages
}

function meant(word: string): string {
  const name = nearest(word, ['list', 'test', 'build'])
  return name === undefined ? '' : `; did you mean ${name}?`
}

const addPlaceFlags = (command: Command): Command =>
  command
    .option('-c, --config <file>', 'read settings from a TOML file')
    .option('--data <dir>', 'the data directory of the worker')
    .option('--backend <name>', `the backend that runs code: ${BACKENDS.join(', ')}`)
