import { Command, Option } from 'commander'
import type { Terminal } from '../../app/process/terminal.ts'
import { addDigestFlag, addLimitFlags, addServerFlags, type DigestOptions } from '../session/grid-flags.ts'
import type { GcOptions } from './gc.ts'
import type { GetOptions } from './get.ts'
import type { PutOptions } from './put.ts'

const EXIT_CODES = `
Exit codes:
  0   done
  1   a blob is absent, or the server or this machine refused
  2   the command line is wrong`

const PUT_HELP = `${EXIT_CODES}

Examples:
  windlass cas put build.log                        prints its hash/size
  windlass cas put --compress zstd *.o              packed on the way, and kept so
  windlass cas put -q src | cut -d' ' -f1           a directory; -q leaves out what is in it
  windlass cas put --tree out                       the same as one Tree message
  tar c . | windlass cas put -                      standard input
  windlass cas put -s grpcs://cache.example.com --instance main file`

const GET_HELP = `${EXIT_CODES}

A file appears under its name when it is whole and its hash is right; a directory must not be there yet, or be empty.
Names and symlinks come from the server and are not trusted: one that leads out of the directory is refused.

Examples:
  windlass cas get 2c26b46b…/3                      to standard output
  windlass cas get 2c26b46b…/3 -o file
  windlass cas get 9e1a3c0f…/412 --dir -o src       a directory, with everything below it
  windlass cas get 77d20b1e…/2048 --tree -o out     the same from one Tree message`

const STAT_HELP = `${EXIT_CODES}

Examples:
  windlass cas stat                                 what the server holds (a Windlass server)
  windlass cas stat 2c26b46b…/3 9e1a3c0f…/412       whether it holds these, and in which forms they can be read`

const GC_HELP = `${EXIT_CODES}

A server evicts blobs by itself when it needs space; this command frees the disk sooner. Without --to and --older-than
no blob is evicted: only unused space is freed. Pinned blobs are never evicted. A restart of the server counts as a use
of all blobs. Ctrl+C stops it; space that was freed until then stays free.

Examples:
  windlass cas gc                                   free the space that no blob uses
  windlass cas gc --to 10GB                         evict the least recently used blobs, down to that size
  windlass cas gc --older-than 7d --dry-run         what would be evicted: blobs not used for a week`

/** The commands for a server's content-addressable storage. */
export function casCommand(terminal: Terminal): Command {
  const cas = new Command('cas')
    .description('upload and download blobs, show the contents of a server, free its disk space')
    .helpCommand(false)
    .addHelpText(
      'after',
      '\nExamples:\n  windlass cas put file\n  windlass cas get HASH/SIZE -o file\n  windlass cas gc --help',
    )
  for (const make of [putCommand, getCommand, statCommand, gcCommand]) cas.addCommand(make(terminal))
  return cas
}

const putCommand = (terminal: Terminal): Command =>
  addDigestFlag(addServerFlags(new Command('put')))
    .description('upload files that the server does not have; prints hash/size and path of each')
    .argument('<path...>', 'files, directories, or - for standard input')
    .addOption(new Option('--compress <how>', 'pack blobs on the way').choices(['zstd']))
    .option('--tree', 'upload each directory as one Tree message, not as Directory messages')
    .option('-q, --quiet', 'print only the named paths, not the contents of directories')
    .addHelpText('after', PUT_HELP)
    .action(async (paths: string[], options: PutOptions) => {
      const { runPut } = await import('./put.ts')
      await runPut(paths, options, terminal)
    })

const getCommand = (terminal: Terminal): Command =>
  addLimitFlags(addDigestFlag(addServerFlags(new Command('get'))))
    .description('fetch a blob, or a directory with everything below it')
    .argument('<digest>', 'hash/size')
    .option('-o, --output <path>', 'write it here')
    .option('--dir', 'the digest is that of a Directory message')
    .option('--tree', 'the digest is that of a Tree message')
    .option('--unsafe-links', 'create symlinks even if they point outside the directory')
    .addHelpText('after', GET_HELP)
    .action(async (digest: string, options: GetOptions) => {
      const { runGet } = await import('./get.ts')
      await runGet(digest, options, terminal)
    })

const statCommand = (terminal: Terminal): Command =>
  addDigestFlag(addServerFlags(new Command('stat')))
    .description('show the usage of a server, or whether it has certain blobs')
    .argument('[digest...]', 'hash/size')
    .addHelpText('after', STAT_HELP)
    .action(async (digests: string[], options: DigestOptions) => {
      const { runStat } = await import('./stat.ts')
      await runStat(digests, options, terminal)
    })

const gcCommand = (terminal: Terminal): Command =>
  addServerFlags(new Command('gc'))
    .description('make the server free disk space now')
    .option('--to <bytes>', 'evict blobs until the files take no more than this, such as 10GB')
    .option('--older-than <time>', 'evict blobs that were not used for this time, such as 7d')
    .option('--dry-run', 'only print what would be evicted')
    .addHelpText('after', GC_HELP)
    .action(async (options: GcOptions) => {
      const { runGc } = await import('./gc.ts')
      await runGc(options, terminal)
    })
