import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const UPDATE = { needs: ['update'] } as const

export const ACTION_CACHE = {
  'ActionCache.GetActionResult': {
    'action-cache.get.miss': mustRow('An action without a result is NOT_FOUND.'),
    'action-cache.get.missing-file': shouldRow('A result whose output file is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-stdout': shouldRow('A result whose stdout is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-stderr': shouldRow('A result whose stderr is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-tree': shouldRow('A result whose output directory is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-tree-file': shouldRow(
      'A result with a file gone from the root of an output directory is NOT_FOUND.',
      UPDATE,
    ),
    'action-cache.get.missing-tree-child-file': shouldRow(
      'A result with a file gone from below the root of an output directory is NOT_FOUND.',
      UPDATE,
    ),
    'action-cache.get.complete-tree': mustRow('A result whose output directory is all there is a hit.', UPDATE),
    'action-cache.get.stdout-unasked': shouldRow('stdout is not inlined unasked, and its digest is given.', UPDATE),
    'action-cache.get.stderr-unasked': shouldRow('stderr is not inlined unasked, and its digest is given.', UPDATE),
    'action-cache.get.file-unasked': shouldRow(
      'Output files are not inlined unasked, and their digests are given.',
      UPDATE,
    ),
    'action-cache.get.stdout-inlined': mustRow('stdout, where inlined, is right, and its digest stays.', UPDATE),
    'action-cache.get.stderr-inlined': mustRow('stderr, where inlined, is right, and its digest stays.', UPDATE),
    'action-cache.get.file-inlined': mustRow('An output file, where inlined, is right, and its digest stays.', UPDATE),
    'action-cache.get.other-file-unasked': shouldRow('Only the files that were asked for are inlined.', UPDATE),
    'action-cache.get.inline-unknown-path': mustRow('A path to inline that is no output does no harm.', UPDATE),
    'action-cache.get.inline-bounded': mustRow('Inlining stops before the answer passes 4 MiB.', UPDATE),
    'action-cache.get.failed-not-served': shouldRow('A result with an exit code other than 0 is not served.', {
      needs: ['update'],
      note: 'Bazel takes it for a miss and runs the action again without looking; refusing to store it is as good.',
    }),
    'action-cache.get.per-instance': shouldRow('A result is not there under another instance name.', {
      needs: ['update'],
      note: 'A server that refuses the other name keeps this too.',
    }),
  },
  'ActionCache.UpdateActionResult': {
    'action-cache.update.stores': mustRow('A stored result is a hit.', UPDATE),
    'action-cache.update.answers': mustRow('The answer is the result.', UPDATE),
    'action-cache.update.overwrites': mustRow('A later result takes the place of an earlier one.', UPDATE),
    'action-cache.update.keeps-files': mustRow('Output files keep their path, digest and executable bit.', UPDATE),
    'action-cache.update.keeps-directories': mustRow('Output directories keep their path and tree.', UPDATE),
    'action-cache.update.keeps-symlinks': mustRow('Output links keep their path and target.', {
      since: '2.1',
      needs: ['update'],
    }),
    'action-cache.update.keeps-metadata': shouldRow('The worker and the times of the execution are kept.', UPDATE),
    'action-cache.update.missing-action': mustRow(
      'A result of an action that nobody uploaded is stored, or FAILED_PRECONDITION.',
      UPDATE,
    ),
    'action-cache.update.malformed-digest': shouldRow(
      'An action digest of impossible length is INVALID_ARGUMENT.',
      UPDATE,
    ),
    'action-cache.update.no-result': shouldRow('A request without a result is INVALID_ARGUMENT.', UPDATE),
    'action-cache.update.denied': shouldRow('Where update_enabled is not advertised, it is PERMISSION_DENIED.', {
      needs: ['read-only'],
      note: 'UNIMPLEMENTED, FAILED_PRECONDITION and UNAUTHENTICATED are accepted too.',
    }),
  },
  // Clients create files under these names: Bazel crashes, or writes outside of its output directory.
  'ActionCache results that no client can use': {
    'action-cache.malformed.path-outside': shouldRow(
      'An output path that begins with `..` is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.path-detour': shouldRow(
      'An output path that leads out of the working directory by a detour is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.path-absolute': shouldRow('An absolute output path is refused or not served.', UPDATE),
    'action-cache.malformed.path-nul': shouldRow('An output path with a NUL in it is refused or not served.', UPDATE),
    'action-cache.malformed.path-empty': shouldRow('An output file without a path is refused or not served.', UPDATE),
    'action-cache.malformed.path-twice': shouldRow('An output path that comes twice is refused or not served.', UPDATE),
    'action-cache.malformed.path-below-file': shouldRow(
      'An output below an output file is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.path-below-symlink': shouldRow(
      'An output below an output symlink is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.directory-outside': shouldRow(
      'An output directory outside the working directory is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.symlink-outside': shouldRow(
      'An output symlink outside the working directory is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.symlink-target': shouldRow(
      'An output symlink without a target is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.stdout-contradicts': shouldRow(
      'Inline stdout that is not the blob of its digest is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.stderr-contradicts': shouldRow(
      'Inline stderr that is not the blob of its digest is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.file-contradicts': shouldRow(
      'Inline content of an output file that is not the blob of its digest is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.tree-name-slash': shouldRow(
      'A Tree with a slash in a name is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.tree-name-dots': shouldRow('A Tree with the name `..` is refused or not served.', UPDATE),
    'action-cache.malformed.tree-name-empty': shouldRow('A Tree with an empty name is refused or not served.', UPDATE),
    'action-cache.malformed.tree-name-nul': shouldRow('A Tree with a NUL in a name is refused or not served.', UPDATE),
    'action-cache.malformed.tree-name-twice': shouldRow(
      'A Tree with a name that comes twice in a directory is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.tree-absent-child': shouldRow(
      'A Tree that names a directory which is not in it is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.tree-no-root': shouldRow('A Tree without a root is refused or not served.', UPDATE),
    'action-cache.malformed.tree-unsorted': shouldRow(
      'A Tree that is not topologically sorted where the result says that it is is refused or not served.',
      UPDATE,
    ),
  },
} satisfies BehaviourTable
