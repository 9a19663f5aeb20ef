import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const UPDATE = { needs: ['update'] } as const

export const ACTION_CACHE = {
  'ActionCache.GetActionResult': {
    'action-cache.get.miss': mustRow('GetActionResult for an action without a result returns NOT_FOUND.'),
    'action-cache.get.missing-file': shouldRow(
      'A result whose output file is not in the CAS returns NOT_FOUND.',
      UPDATE,
    ),
    'action-cache.get.missing-stdout': shouldRow('A result whose stdout is not in the CAS returns NOT_FOUND.', UPDATE),
    'action-cache.get.missing-stderr': shouldRow('A result whose stderr is not in the CAS returns NOT_FOUND.', UPDATE),
    'action-cache.get.missing-tree': shouldRow(
      'A result whose output directory is not in the CAS returns NOT_FOUND.',
      UPDATE,
    ),
    'action-cache.get.missing-tree-file': shouldRow(
      'A result returns NOT_FOUND if a file in the root of an output directory is not in the CAS.',
      UPDATE,
    ),
    'action-cache.get.missing-tree-child-file': shouldRow(
      'A result returns NOT_FOUND if a file in a subdirectory of an output directory is not in the CAS.',
      UPDATE,
    ),
    'action-cache.get.complete-tree': mustRow(
      'A result is a cache hit if its output directory is completely in the CAS.',
      UPDATE,
    ),
    'action-cache.get.stdout-unasked': shouldRow('stdout is inlined only on request, and its digest is set.', UPDATE),
    'action-cache.get.stderr-unasked': shouldRow('stderr is inlined only on request, and its digest is set.', UPDATE),
    'action-cache.get.file-unasked': shouldRow(
      'Output files are inlined only on request, and their digests are set.',
      UPDATE,
    ),
    'action-cache.get.stdout-inlined': mustRow(
      'Inlined stdout has the correct content, and its digest is also set.',
      UPDATE,
    ),
    'action-cache.get.stderr-inlined': mustRow(
      'Inlined stderr has the correct content, and its digest is also set.',
      UPDATE,
    ),
    'action-cache.get.file-inlined': mustRow(
      'An inlined output file has the correct content, and its digest is also set.',
      UPDATE,
    ),
    'action-cache.get.other-file-unasked': shouldRow('Only the requested output files are inlined.', UPDATE),
    'action-cache.get.inline-unknown-path': mustRow(
      'A path in inline_output_files that is not an output is ignored.',
      UPDATE,
    ),
    'action-cache.get.inline-bounded': mustRow('The server stops inlining before the response exceeds 4 MiB.', UPDATE),
    'action-cache.get.failed-not-served': shouldRow('A result with an exit code other than 0 is not returned.', {
      needs: ['update'],
      note: 'Bazel treats it as a cache miss and runs the action again. Rejecting the update is accepted too.',
    }),
    'action-cache.get.per-instance': shouldRow('A result is not found under another instance name.', {
      needs: ['update'],
      note: 'A server that rejects the other instance name also passes.',
    }),
  },
  'ActionCache.UpdateActionResult': {
    'action-cache.update.stores': mustRow('A stored result is a cache hit.', UPDATE),
    'action-cache.update.answers': mustRow('The response contains the stored result.', UPDATE),
    'action-cache.update.overwrites': mustRow('A later result replaces an earlier one.', UPDATE),
    'action-cache.update.keeps-files': mustRow('Output files keep their path, digest and executable bit.', UPDATE),
    'action-cache.update.keeps-directories': mustRow('Output directories keep their path and tree.', UPDATE),
    'action-cache.update.keeps-symlinks': mustRow('Output symlinks keep their path and target.', {
      since: '2.1',
      needs: ['update'],
    }),
    'action-cache.update.keeps-metadata': shouldRow('The worker and the times of the execution are kept.', UPDATE),
    'action-cache.update.missing-action': mustRow(
      'A result of an action that is not in the CAS is stored, or rejected with FAILED_PRECONDITION.',
      UPDATE,
    ),
    'action-cache.update.malformed-digest': shouldRow(
      'An action digest with an invalid hash length returns INVALID_ARGUMENT.',
      UPDATE,
    ),
    'action-cache.update.no-result': shouldRow('A request without a result returns INVALID_ARGUMENT.', UPDATE),
    'action-cache.update.denied': shouldRow(
      'If update_enabled is not advertised, UpdateActionResult returns PERMISSION_DENIED.',
      {
        needs: ['read-only'],
        note: 'UNIMPLEMENTED, FAILED_PRECONDITION and UNAUTHENTICATED are accepted too.',
      },
    ),
  },
  // Clients create files under these names: Bazel crashes, or writes outside of its output directory.
  'ActionCache results that no client can use': {
    'action-cache.malformed.path-outside': shouldRow(
      'A result with an output path that begins with `..` is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.path-detour': shouldRow(
      'A result with an output path such as `a/../../b`, outside the working directory, is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.path-absolute': shouldRow(
      'A result with an absolute output path is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.path-nul': shouldRow(
      'A result with an output path that contains NUL is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.path-empty': shouldRow(
      'A result with an output file without a path is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.path-twice': shouldRow(
      'A result with a duplicate output path is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.path-below-file': shouldRow(
      'A result with an output below an output file is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.path-below-symlink': shouldRow(
      'A result with an output below an output symlink is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.directory-outside': shouldRow(
      'A result with an output directory outside the working directory is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.symlink-outside': shouldRow(
      'A result with an output symlink outside the working directory is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.symlink-target': shouldRow(
      'A result with an output symlink without a target is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.stdout-contradicts': shouldRow(
      'A result whose inline stdout does not match its digest is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.stderr-contradicts': shouldRow(
      'A result whose inline stderr does not match its digest is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.file-contradicts': shouldRow(
      'A result with an output file whose inline content does not match its digest is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.tree-name-slash': shouldRow(
      'A Tree with a slash in a name is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.tree-name-dots': shouldRow(
      'A Tree with the name `..` is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.tree-name-empty': shouldRow(
      'A Tree with an empty name is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.tree-name-nul': shouldRow('A Tree with NUL in a name is rejected or not returned.', UPDATE),
    'action-cache.malformed.tree-name-twice': shouldRow(
      'A Tree with a duplicate name in a directory is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.tree-absent-child': shouldRow(
      'A Tree that references a directory which it does not contain is rejected or not returned.',
      UPDATE,
    ),
    'action-cache.malformed.tree-no-root': shouldRow('A Tree without a root is rejected or not returned.', UPDATE),
    'action-cache.malformed.tree-unsorted': shouldRow(
      'An unsorted Tree in a result with is_topologically_sorted is rejected or not returned.',
      UPDATE,
    ),
  },
} satisfies BehaviourTable
