import { type BehaviourTable, must, should } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const
/** Later ones may leave it. */
const LEGACY = { needs: ['exec', 'worker', 'version-2-0'] } as const
const SINCE_2_1 = { since: '2.1', needs: ['exec', 'worker'] } as const
const SINCE_2_8 = { since: '2.8', needs: ['exec', 'worker'] } as const

export const EXECUTION_FILES = {
  'Execution commands': {
    'command.arguments': must('Arguments reach the command as they are.', WORKER),
    'command.environment': must('Environment variables reach the command as they are.', WORKER),
    'command.no-environment': must('A command that declares no environment is run.', {
      needs: ['exec', 'worker'],
      note: 'Buck2 may send no PATH.',
    }),
    'command.stdin': should('The stdin of a command is empty.', WORKER),
    'command.relative-program': must('A program with a slash is relative to the working directory.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'command.path-program': should('A program without a slash is found by the PATH that is declared.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'command.no-program': should('A program that is not there is the client’s mistake, not the server’s.', WORKER),
    'command.working-directory': must('The command starts in its working directory.', WORKER),
    'command.no-working-directory': should('A working directory that is not there is the client’s mistake.', WORKER),
    'command.platform-of-action': should('The platform of the action goes before that of the command.', {
      since: '2.2',
      needs: ['exec', 'worker'],
    }),
    'command.platform-of-command': should('Without a platform in the action, that of the command counts.', WORKER),
  },
  'Execution inputs': {
    'inputs.files': must('Input files are there, in their directories.', WORKER),
    'inputs.empty-file': must('An empty file is there, though nobody uploaded the empty blob.', WORKER),
    'inputs.executable': must('Executable files can be executed.', WORKER),
    'inputs.not-executable': should('Input files that are not said to be executable are not.', WORKER),
    'inputs.symlinks': must('Links among the inputs are there, with their targets.', WORKER),
    'inputs.dangling': must('Links among the inputs that lead nowhere are there.', WORKER),
    'inputs.empty-directory': must('Empty directories among the inputs are there.', WORKER),
    'inputs.absolute-link': must(
      'A link with an absolute target among the inputs is kept, or INVALID_ARGUMENT, as advertised.',
      WORKER,
    ),
    'inputs.unix-mode': must('unix_mode is set on input files.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-unix-mode'],
    }),
    'inputs.mtime': must('mtime is set on input files.', { since: '2.1', needs: ['exec', 'worker', 'node-mtime'] }),
  },
  'Execution outputs': {
    'outputs.files': must('An output file is given under its path, with its content.', SINCE_2_1),
    'outputs.in-cas': must('Output files are in the CAS.', SINCE_2_1),
    'outputs.executable': must('The executable bit of outputs is given.', SINCE_2_1),
    'outputs.parents': must('The directories above an output are there before the command starts.', SINCE_2_1),
    'outputs.not-made': should('The output itself is not there before the command starts.', SINCE_2_1),
    'outputs.missing': must('An output that was not made is left out, and that is no error.', SINCE_2_1),
    'outputs.undeclared': must('What was not declared is not given.', SINCE_2_1),
    'outputs.relative': must('Paths of outputs are relative to the working directory.', SINCE_2_1),
    'outputs.paths-first': must('Where output_paths are given, the older fields are ignored.', SINCE_2_1),
    'outputs.legacy-files': must('output_files are collected, where there are no output_paths.', LEGACY),
    'outputs.legacy-directories': must('output_directories are collected, where there are no output_paths.', LEGACY),
    'outputs.legacy-mismatch': must('A directory where a file was declared is FAILED_PRECONDITION.', LEGACY),
    'outputs.links': must('An output that is a link is given as a link, with its target.', SINCE_2_1),
    'outputs.dangling': must('An output that is a link to nowhere is given as a link, with its target.', SINCE_2_1),
    'outputs.legacy-links': should('Among output_files, a link is in output_file_symlinks.', LEGACY),
    'outputs.legacy-directory-links': should(
      'Among output_directories, a link to a directory is in output_directory_symlinks.',
      LEGACY,
    ),
    'outputs.absolute-link': must(
      'An output link with an absolute target is given, or FAILED_PRECONDITION, as advertised.',
      SINCE_2_1,
    ),
    'outputs.unix-mode': must('unix_mode of output files is given, where it was asked for.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-unix-mode'],
    }),
    'outputs.mtime': must('mtime of output files is given, where it was asked for.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-mtime'],
    }),
    'outputs.unknown-property': must('A node property that the server does not know is INVALID_ARGUMENT.', SINCE_2_1),
    'outputs.directory': must('An output that is a directory is given as a Tree with all that is in it.', SINCE_2_1),
    'outputs.empty-path': should('The output with the empty path is the whole working directory.', SINCE_2_1),
    'outputs.tree-in-cas': must('All files of a Tree are in the CAS.', SINCE_2_1),
    'outputs.tree-links': must('Links in a directory are links in its Tree.', SINCE_2_1),
    'outputs.tree-empty': must('Empty directories of an output are in its Tree.', SINCE_2_1),
    'outputs.tree-stable': should('The same directory is the same Tree.', SINCE_2_1),
    'outputs.tree-once': must('Directories that are alike are in a sorted Tree once.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.tree-sorted': must('In a sorted Tree, parents come before their children.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.tree-records': must('A sorted Tree is a record for the root, and one for each child after it.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.directory-only': must(
      'DIRECTORY_ONLY gives the root Directory, and all below it are in the CAS.',
      SINCE_2_8,
    ),
    'outputs.tree-and-directory': must('TREE_AND_DIRECTORY gives both.', SINCE_2_8),
  },
  'Execution metadata': {
    'exec-metadata.worker': should('The result names its worker.', WORKER),
    'exec-metadata.times': should('All times from queueing to the end are set.', {
      needs: ['exec', 'worker'],
      note: 'Bazel computes how long each step took from them.',
    }),
    'exec-metadata.times-ordered': should('The times in the metadata of a result are in order.', WORKER),
    'exec-metadata.virtual-duration': should('virtual_execution_duration is set, and no longer than the run.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'exec-metadata.partial': should('While it runs, partial_execution_metadata say since when.', {
      since: '2.6',
      needs: ['exec', 'worker'],
    }),
  },
} satisfies BehaviourTable
