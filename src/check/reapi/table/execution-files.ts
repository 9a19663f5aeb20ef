import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const
/** Later ones may leave it. */
const LEGACY = { needs: ['exec', 'worker', 'version-2-0'] } as const
const SINCE_2_1 = { since: '2.1', needs: ['exec', 'worker'] } as const
const SINCE_2_8 = { since: '2.8', needs: ['exec', 'worker'] } as const

export const EXECUTION_FILES = {
  'Execution commands': {
    'command.arguments': mustRow('The command gets its arguments unchanged.', WORKER),
    'command.environment': mustRow('The command gets its environment variables unchanged.', WORKER),
    'command.no-environment': mustRow('A command without environment variables is executed.', {
      needs: ['exec', 'worker'],
      note: 'Buck2 does not always send PATH.',
    }),
    'command.stdin': shouldRow('The stdin of a command is empty.', WORKER),
    'command.relative-program': mustRow('A program name with a slash is relative to the working directory.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'command.path-program': shouldRow('A program name without a slash is searched in the PATH of the command.', {
      since: '2.3',
      needs: ['exec', 'worker'],
    }),
    'command.no-program': shouldRow(
      'A missing program is reported as an error of the client, not of the server.',
      WORKER,
    ),
    'command.working-directory': mustRow('The command starts in its working directory.', WORKER),
    'command.no-working-directory': shouldRow(
      'A missing working directory is reported as an error of the client.',
      WORKER,
    ),
    'command.platform-of-action': shouldRow('The platform of the action overrides the platform of the command.', {
      since: '2.2',
      needs: ['exec', 'worker'],
    }),
    'command.platform-of-command': shouldRow(
      'If the action has no platform, the platform of the command is used.',
      WORKER,
    ),
  },
  'Execution inputs': {
    'inputs.files': mustRow('Input files exist in their directories.', WORKER),
    'inputs.empty-file': mustRow('An empty input file exists without an upload of the empty blob.', WORKER),
    'inputs.executable': mustRow('Executable files can be executed.', WORKER),
    'inputs.not-executable': shouldRow('Input files without is_executable are not executable.', WORKER),
    'inputs.symlinks': mustRow('Input symlinks exist with their targets.', WORKER),
    'inputs.dangling': mustRow('Dangling input symlinks exist.', WORKER),
    'inputs.empty-directory': mustRow('Empty input directories exist.', WORKER),
    'inputs.absolute-link': mustRow(
      'An input symlink with an absolute target is kept, or rejected with INVALID_ARGUMENT, as advertised.',
      WORKER,
    ),
    'inputs.unix-mode': mustRow('unix_mode is set on input files.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-unix-mode'],
    }),
    'inputs.mtime': mustRow('mtime is set on input files.', { since: '2.1', needs: ['exec', 'worker', 'node-mtime'] }),
  },
  'Execution outputs': {
    'outputs.files': mustRow('An output file is returned with its path and content.', SINCE_2_1),
    'outputs.in-cas': mustRow('Output files are in the CAS.', SINCE_2_1),
    'outputs.executable': mustRow('The executable bit of output files is returned.', SINCE_2_1),
    'outputs.parents': mustRow('The parent directories of an output exist before the command starts.', SINCE_2_1),
    'outputs.not-made': shouldRow('The output itself does not exist before the command starts.', SINCE_2_1),
    'outputs.missing': mustRow('An output that the command did not create is omitted without an error.', SINCE_2_1),
    'outputs.undeclared': mustRow('Undeclared files are not returned.', SINCE_2_1),
    'outputs.relative': mustRow('Paths of outputs are relative to the working directory.', SINCE_2_1),
    'outputs.paths-first': mustRow('If output_paths is set, the older fields are ignored.', SINCE_2_1),
    'outputs.legacy-files': mustRow('Without output_paths, output_files are collected.', LEGACY),
    'outputs.legacy-directories': mustRow('Without output_paths, output_directories are collected.', LEGACY),
    'outputs.legacy-mismatch': mustRow(
      'A directory at the path of a declared output file returns FAILED_PRECONDITION.',
      LEGACY,
    ),
    'outputs.links': mustRow('An output symlink is returned as a symlink with its target.', SINCE_2_1),
    'outputs.dangling': mustRow('A dangling output symlink is returned as a symlink with its target.', SINCE_2_1),
    'outputs.legacy-links': shouldRow(
      'A symlink declared in output_files is returned in output_file_symlinks.',
      LEGACY,
    ),
    'outputs.legacy-directory-links': shouldRow(
      'A symlink to a directory declared in output_directories is returned in output_directory_symlinks.',
      LEGACY,
    ),
    'outputs.absolute-link': mustRow(
      'An output symlink with an absolute target is returned, or rejected with FAILED_PRECONDITION, as advertised.',
      SINCE_2_1,
    ),
    'outputs.unix-mode': mustRow('unix_mode of output files is returned if requested.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-unix-mode'],
    }),
    'outputs.mtime': mustRow('mtime of output files is returned if requested.', {
      since: '2.1',
      needs: ['exec', 'worker', 'node-mtime'],
    }),
    'outputs.unknown-property': mustRow('An unknown node property returns INVALID_ARGUMENT.', SINCE_2_1),
    'outputs.directory': mustRow('An output directory is returned as a Tree with its complete content.', SINCE_2_1),
    'outputs.empty-path': shouldRow('An output with an empty path is the whole working directory.', SINCE_2_1),
    'outputs.tree-in-cas': mustRow('All files of a Tree are in the CAS.', SINCE_2_1),
    'outputs.tree-links': mustRow('Symlinks in an output directory are symlinks in its Tree.', SINCE_2_1),
    'outputs.tree-empty': mustRow('Empty directories in an output directory are in its Tree.', SINCE_2_1),
    'outputs.tree-stable': shouldRow('Identical directories have identical Trees.', SINCE_2_1),
    'outputs.tree-once': mustRow('A sorted Tree contains each distinct directory once.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.tree-sorted': mustRow('A sorted Tree lists parents before their children.', {
      since: '2.4',
      needs: ['exec', 'worker'],
    }),
    'outputs.tree-records': mustRow(
      'A sorted Tree is encoded as the root field, followed by one field for each child.',
      {
        since: '2.4',
        needs: ['exec', 'worker'],
      },
    ),
    'outputs.directory-only': mustRow(
      'DIRECTORY_ONLY returns the root Directory, and all directories below it are in the CAS.',
      SINCE_2_8,
    ),
    'outputs.tree-and-directory': mustRow('TREE_AND_DIRECTORY returns both.', SINCE_2_8),
  },
  'Execution metadata': {
    'exec-metadata.worker': shouldRow('The result contains the name of its worker.', WORKER),
    'exec-metadata.times': shouldRow('All timestamps from queueing to completion are set.', {
      needs: ['exec', 'worker'],
      note: 'Bazel computes the duration of each step from them.',
    }),
    'exec-metadata.times-ordered': shouldRow('The timestamps of a result are in chronological order.', WORKER),
    'exec-metadata.virtual-duration': shouldRow(
      'virtual_execution_duration is set and not longer than the execution.',
      {
        since: '2.3',
        needs: ['exec', 'worker'],
      },
    ),
    'exec-metadata.partial': shouldRow('While the command runs, partial_execution_metadata contains its start time.', {
      since: '2.6',
      needs: ['exec', 'worker'],
    }),
  },
} satisfies BehaviourTable
