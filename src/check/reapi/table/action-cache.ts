import { type BehaviourTable, must, should } from './row.ts'

const UPDATE = { needs: ['update'] } as const

export const ACTION_CACHE = {
  'ActionCache.GetActionResult': {
    'action-cache.get.miss': must('An action without a result is NOT_FOUND.'),
    'action-cache.get.missing-file': should('A result whose output file is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-stdout': should('A result whose stdout is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-stderr': should('A result whose stderr is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-tree': should('A result whose output directory is gone is NOT_FOUND.', UPDATE),
    'action-cache.get.missing-tree-file': should(
      'A result with a file gone from the root of an output directory is NOT_FOUND.',
      UPDATE,
    ),
    'action-cache.get.missing-tree-child-file': should(
      'A result with a file gone from below the root of an output directory is NOT_FOUND.',
      UPDATE,
    ),
    'action-cache.get.complete-tree': must('A result whose output directory is all there is a hit.', UPDATE),
    'action-cache.get.stdout-unasked': should('stdout is not inlined unasked, and its digest is given.', UPDATE),
    'action-cache.get.stderr-unasked': should('stderr is not inlined unasked, and its digest is given.', UPDATE),
    'action-cache.get.file-unasked': should(
      'Output files are not inlined unasked, and their digests are given.',
      UPDATE,
    ),
    'action-cache.get.stdout-inlined': must('stdout, where inlined, is right, and its digest stays.', UPDATE),
    'action-cache.get.stderr-inlined': must('stderr, where inlined, is right, and its digest stays.', UPDATE),
    'action-cache.get.file-inlined': must('An output file, where inlined, is right, and its digest stays.', UPDATE),
    'action-cache.get.other-file-unasked': should('Only the files that were asked for are inlined.', UPDATE),
    'action-cache.get.inline-unknown-path': must('A path to inline that is no output does no harm.', UPDATE),
    'action-cache.get.inline-bounded': must('Inlining stops before the answer passes 4 MiB.', UPDATE),
    'action-cache.get.failed-not-served': should('A result with an exit code other than 0 is not served.', {
      needs: ['update'],
      note: 'Bazel takes it for a miss and runs the action again without looking; refusing to store it is as good.',
    }),
    'action-cache.get.per-instance': should('A result is not there under another instance name.', {
      needs: ['update'],
      note: 'A server that refuses the other name keeps this too.',
    }),
  },
  'ActionCache.UpdateActionResult': {
    'action-cache.update.stores': must('A stored result is a hit.', UPDATE),
    'action-cache.update.answers': must('The answer is the result.', UPDATE),
    'action-cache.update.overwrites': must('A later result takes the place of an earlier one.', UPDATE),
    'action-cache.update.keeps-files': must('Output files keep their path, digest and executable bit.', UPDATE),
    'action-cache.update.keeps-directories': must('Output directories keep their path and tree.', UPDATE),
    'action-cache.update.keeps-symlinks': must('Output links keep their path and target.', {
      since: '2.1',
      needs: ['update'],
    }),
    'action-cache.update.keeps-metadata': should('The worker and the times of the execution are kept.', UPDATE),
    'action-cache.update.missing-action': must(
      'A result of an action that nobody uploaded is stored, or FAILED_PRECONDITION.',
      UPDATE,
    ),
    'action-cache.update.malformed-digest': should(
      'An action digest of impossible length is INVALID_ARGUMENT.',
      UPDATE,
    ),
    'action-cache.update.no-result': should('A request without a result is INVALID_ARGUMENT.', UPDATE),
    'action-cache.update.denied': should('Where update_enabled is not advertised, it is PERMISSION_DENIED.', {
      needs: ['read-only'],
      note: 'UNIMPLEMENTED, FAILED_PRECONDITION and UNAUTHENTICATED are accepted too.',
    }),
  },
  // Clients create files under these names: Bazel crashes, or writes outside of its output directory.
  'ActionCache results that no client can use': {
    'action-cache.malformed.path-outside': should(
      'An output path that begins with `..` is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.path-detour': should(
      'An output path that leads out of the working directory by a detour is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.path-absolute': should('An absolute output path is refused or not served.', UPDATE),
    'action-cache.malformed.path-nul': should('An output path with a NUL in it is refused or not served.', UPDATE),
    'action-cache.malformed.path-empty': should('An output file without a path is refused or not served.', UPDATE),
    'action-cache.malformed.path-twice': should('An output path that comes twice is refused or not served.', UPDATE),
    'action-cache.malformed.path-below-file': should(
      'An output below an output file is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.path-below-symlink': should(
      'An output below an output symlink is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.directory-outside': should(
      'An output directory outside the working directory is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.symlink-outside': should(
      'An output symlink outside the working directory is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.symlink-target': should(
      'An output symlink without a target is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.stdout-contradicts': should(
      'Inline stdout that is not the blob of its digest is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.stderr-contradicts': should(
      'Inline stderr that is not the blob of its digest is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.file-contradicts': should(
      'Inline content of an output file that is not the blob of its digest is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.tree-name-slash': should('A Tree with a slash in a name is refused or not served.', UPDATE),
    'action-cache.malformed.tree-name-dots': should('A Tree with the name `..` is refused or not served.', UPDATE),
    'action-cache.malformed.tree-name-empty': should('A Tree with an empty name is refused or not served.', UPDATE),
    'action-cache.malformed.tree-name-nul': should('A Tree with a NUL in a name is refused or not served.', UPDATE),
    'action-cache.malformed.tree-name-twice': should(
      'A Tree with a name that comes twice in a directory is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.tree-absent-child': should(
      'A Tree that names a directory which is not in it is refused or not served.',
      UPDATE,
    ),
    'action-cache.malformed.tree-no-root': should('A Tree without a root is refused or not served.', UPDATE),
    'action-cache.malformed.tree-unsorted': should(
      'A Tree that is not topologically sorted where the result says that it is is refused or not served.',
      UPDATE,
    ),
  },
} satisfies BehaviourTable
