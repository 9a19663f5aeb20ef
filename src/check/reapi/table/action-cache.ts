import { must, type Rows, should } from './row.ts'

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
} satisfies Rows
