import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const
/** Later ones may leave it. */
const LEGACY = { needs: ['exec', 'worker', 'version-2-0'] } as const
const SINCE_2_1 = { since: '2.1', needs: ['exec', 'worker'] } as const
const SINCE_2_8 = { since: '2.8', needs: ['exec', 'worker'] } as const

export const EXECUTION_FILES = {
  'Execution commands': {
    'command.arguments': mustRow('Arguments reach the command as they are.', WORKER),
    'command.environment': mustRow('Environment variables reach the command as they are.', WORKER),
    'command.no-environment': mustRow('A command that declares no environment is run.', {
      needs: ['exec', 'worker'],
      note: 'Buck2 may send no PATH.',
    }),
    'command.stdin': shouldRow('The stdin of a command is empty.', WORKER),
    'command.relative-program': mustRow('A program with a slash is relative to the working directory.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'command.path-program': shouldRow('A program without a slash is found by the PATH that is declared.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'command.no-program': shouldRow('A program that is not there is the client’s mistake, not the server’s.', WORKER),
    'command.working-directory': mustRow('The command starts in its working directory.', WORKER),
    'command.no-working-directory': shouldRow('A working directory that is not there is the client’s mistake.', WORKER),
    'command.platform-of-action': shouldRow('The platform of the action goes before that of the command.', {
      since: '2.2',
      needs: ['exec', 'worker'],
    }),
    'command.platform-of-command': shouldRow('Without a platform in the action, that of the command counts.', WORKER),
  },
  'Execution inputs': {
    'inputs.files': mustRow('Input files are there, in their directories.', WORKER),
    'inputs.empty-file': mustRow('An empty file is there, though nobody uploaded the empty blob.', WORKER),
    'inputs.executable': mustRow('Executable files can be executed.', WORKER),
    'inputs.not-executable': shouldRow('Input files that are not said to be executable are not.', WORKER),
    'inputs.symlinks': mustRow('Links among the inputs are there, with their targets.', WORKER),
    'inputs.dangling': mustRow('Links among the inputs that lead nowhere are there.', WORKER),
    'inputs.empty-directory': mustRow('Empty directories among the inputs are there.', WORKER),
    'inputs.absolute-link': mustRow(
      'A link with an absolute target among the inputs is kept, or INVALID_ARGUMENT, as advertised.',
      WORKER,
    ),
    'inputs.unix-mode': mustRow('unix_mode is set on input files.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-unix-mode'],
    }),
    'inputs.mtime': mustRow('mtime is set on input files.', { since: '2.1', needs: ['exec', 'worker', 'node-mtime'] }),
  },
  'Execution outputs': {
    'outputs.files': mustRow('An output file is given under its path, with its content.', SINCE_2_1),
    'outputs.in-cas': mustRow('Output files are in the CAS.', SINCE_2_1),
    'outputs.executable': mustRow('The executable bit of outputs is given.', SINCE_2_1),
    'outputs.parents': mustRow('The directories above an output are there before the command starts.', SINCE_2_1),
    'outputs.not-made': shouldRow('The output itself is not there before the command starts.', SINCE_2_1),
    'outputs.missing': mustRow('An output that was not made is left out, and that is no error.', SINCE_2_1),
    'outputs.undeclared': mustRow('What was not declared is not given.', SINCE_2_1),
    'outputs.relative': mustRow('Paths of outputs are relative to the working directory.', SINCE_2_1),
    'outputs.paths-first': mustRow('Where output_paths are given, the older fields are ignored.', SINCE_2_1),
    'outputs.legacy-files': mustRow('output_files are collected, where there are no output_paths.', LEGACY),
    'outputs.legacy-directories': mustRow('output_directories are collected, where there are no output_paths.', LEGACY),
    'outputs.legacy-mismatch': mustRow('A directory where a file was declared is FAILED_PRECONDITION.', LEGACY),
    'outputs.links': mustRow('An output that is a link is given as a link, with its target.', SINCE_2_1),
    'outputs.dangling': mustRow('An output that is a link to nowhere is given as a link, with its target.', SINCE_2_1),
    'outputs.legacy-links': shouldRow('Among output_files, a link is in output_file_symlinks.', LEGACY),
    'outputs.legacy-directory-links': shouldRow(
      'Among output_directories, a link to a directory is in output_directory_symlinks.',
      LEGACY,
    ),
    'outputs.absolute-link': mustRow(
      'An output link with an absolute target is given, or FAILED_PRECONDITION, as advertised.',
      SINCE_2_1,
    ),
    'outputs.unix-mode': mustRow('unix_mode of output files is given, where it was asked for.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-unix-mode'],
    }),
    'outputs.mtime': mustRow('mtime of output files is given, where it was asked for.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-mtime'],
    }),
    'outputs.unknown-property': mustRow(
      'A node property that the server does not know is INVALID_ARGUMENT.',
      SINCE_2_1,
    ),
    'outputs.directory': mustRow('An output that is a directory is given as a Tree with all that is in it.', SINCE_2_1),
    'outputs.empty-path': shouldRow('The output with the empty path is the whole working directory.', SINCE_2_1),
    'outputs.tree-in-cas': mustRow('All files of a Tree are in the CAS.', SINCE_2_1),
    'outputs.tree-links': mustRow('Links in a directory are links in its Tree.', SINCE_2_1),
    'outputs.tree-empty': mustRow('Empty directories of an output are in its Tree.', SINCE_2_1),
    'outputs.tree-stable': shouldRow('The same directory is the same Tree.', SINCE_2_1),
    'outputs.tree-once': mustRow('Directories that are alike are in a sorted Tree once.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.tree-sorted': mustRow('In a sorted Tree, parents come before their children.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.tree-records': mustRow('A sorted Tree is a record for the root, and one for each child after it.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.directory-only': mustRow(
      'DIRECTORY_ONLY gives the root Directory, and all below it are in the CAS.',
      SINCE_2_8,
    ),
    'outputs.tree-and-directory': mustRow('TREE_AND_DIRECTORY gives both.', SINCE_2_8),
  },
  'Execution metadata': {
    'exec-metadata.worker': shouldRow('The result names its worker.', WORKER),
    'exec-metadata.times': shouldRow('All times from queueing to the end are set.', {
      needs: ['exec', 'worker'],
      note: 'Bazel computes how long each step took from them.',
    }),
    'exec-metadata.times-ordered': shouldRow('The times in the metadata of a result are in order.', WORKER),
    'exec-metadata.virtual-duration': shouldRow('virtual_execution_duration is set, and no longer than the run.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'exec-metadata.partial': shouldRow('While it runs, partial_execution_metadata say since when.', {
      since: '2.6',
      needs: ['exec', 'worker'],
    }),
  },
} satisfies BehaviourTable
