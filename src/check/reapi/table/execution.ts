import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const

export const EXECUTION = {
  'Execution.Execute': {
    'execute.runs': mustRow('Execute runs the command and returns its result.', {
      needs: ['exec'],
      note: 'If this fails, no other behaviour of execution can be checked. Set the properties of your workers with --platform.',
    }),
    'execute.first-at-once': shouldRow('The first message is sent before the command finishes.', WORKER),
    'execute.name-given': mustRow('Every message contains the name of the operation.', WORKER),
    'execute.name-stable': mustRow('All messages of one stream contain the same name.', WORKER),
    'execute.name-unguessable': shouldRow(
      'The name of an operation cannot be derived from the name of another.',
      WORKER,
    ),
    'execute.stages-known': mustRow('Every message contains a stage that the API defines.', WORKER),
    'execute.stage-executing': shouldRow('While the command runs, the stage is EXECUTING.', WORKER),
    'execute.done-when-completed': mustRow('An operation is done exactly when its stage is COMPLETED.', WORKER),
    'execute.done-is-last': mustRow('After the message with done, the stream ends with OK.', WORKER),
    'execute.metadata-type': mustRow('The metadata have the exact type ExecuteOperationMetadata.', WORKER),
    'execute.response-type': mustRow('The response has the exact type ExecuteResponse.', WORKER),
    'execute.metadata-action': mustRow('The metadata contain the digest of the action.', WORKER),
    'execute.metadata-function': shouldRow('The metadata contain the digest function.', {
      since: '2.11',
      needs: ['exec', 'worker'],
    }),
    'execute.no-operation-error': mustRow(
      'The error field of an operation is never set; errors are in the response.',
      WORKER,
    ),
    'execute.stdout': mustRow('The stdout of the command is returned byte for byte.', WORKER),
    'execute.stderr': mustRow('The stderr of the command is returned byte for byte.', WORKER),
    'execute.large-stdout': mustRow(
      'Several MiB of stdout are returned completely, in messages of at most 4 MiB.',
      WORKER,
    ),
    'execute.exit-code': mustRow('A failed command returns a result with its exit code, and the status is OK.', WORKER),
    'execute.failed-outputs': mustRow('A failed command also returns its outputs.', WORKER),
    'execute.status-message': shouldRow('A status other than OK has a message.', WORKER),
    'execute.server-logs': shouldRow(
      'Names of server logs are relative paths without `..`, and the logs are in the CAS.',
      WORKER,
    ),
    'execute.unknown-fields-ignored': mustRow('Unknown fields of a request are ignored.', WORKER),
    'execute.request-metadata': mustRow('A RequestMetadata header is accepted.', WORKER),
    'execute.garbage-metadata': shouldRow('An invalid RequestMetadata header is ignored.', WORKER),
    'execute.inline-stdout': mustRow('Inlined stdout has the correct content.', {
      since: '2.9',
      needs: ['exec', 'worker'],
    }),
    'execute.inline-files': mustRow('Inlined output files have the correct content, and their digests are also set.', {
      since: '2.9',
      needs: ['exec', 'worker'],
    }),
    'execute.functions': mustRow('Actions are executed with every digest function that execution advertises.', {
      since: '2.7',
      needs: ['exec', 'worker'],
    }),
    'execute.priority': mustRow('Priorities of the advertised ranges are accepted.', {
      needs: ['exec', 'worker', 'exec-priorities'],
    }),
    'execute.cache-priority': mustRow('A results_cache_policy is accepted.', WORKER),
  },
  'Execution caching': {
    'exec-cache.hit': shouldRow(
      'An action that was executed before is answered from the cache, with cached_result set.',
      WORKER,
    ),
    'exec-cache.hit-same': mustRow('The cached result equals the first result.', WORKER),
    'exec-cache.fresh': mustRow('An action that was just executed does not have cached_result set.', WORKER),
    'exec-cache.stored': shouldRow('GetActionResult returns the result of an executed action.', WORKER),
    'exec-cache.skip-lookup': mustRow('With skip_cache_lookup, the command is executed again.', WORKER),
    'exec-cache.skip-overwrites': shouldRow(
      'The result of an execution with skip_cache_lookup replaces an earlier result.',
      WORKER,
    ),
    'exec-cache.do-not-cache': mustRow('The result of a do_not_cache action is not stored.', WORKER),
    'exec-cache.do-not-cache-runs': mustRow('A do_not_cache action is executed each time.', WORKER),
    'exec-cache.do-not-cache-unmerged': mustRow('Concurrent identical do_not_cache actions are not merged.', WORKER),
    'exec-cache.merged': shouldRow('Concurrent identical actions are executed once.', WORKER),
    'exec-cache.merged-cancel': shouldRow(
      'One of several concurrent identical actions can be cancelled alone.',
      WORKER,
    ),
    'exec-cache.failure': shouldRow('A result with an exit code other than 0 is not stored.', {
      needs: ['exec', 'worker'],
      note: 'Bazel treats a cached failure as a cache miss.',
    }),
    'exec-cache.failure-runs': shouldRow('A failed command is executed again.', WORKER),
    'exec-cache.expired': mustRow('The result of a command that exceeded its timeout is not stored.', WORKER),
    'exec-cache.metadata': shouldRow('A cached result contains the name of the worker that executed it.', WORKER),
  },
  'Execution refusals': {
    'refusal.missing-action': mustRow('A missing action returns FAILED_PRECONDITION.', WORKER),
    'refusal.missing-command': mustRow('An action with a missing command returns FAILED_PRECONDITION.', WORKER),
    'refusal.missing-root': mustRow('An action with a missing input root returns FAILED_PRECONDITION.', WORKER),
    'refusal.missing-file': mustRow('An action with a missing input file returns FAILED_PRECONDITION.', WORKER),
    'refusal.missing-directory': mustRow(
      'An action with a missing input directory returns FAILED_PRECONDITION.',
      WORKER,
    ),
    'refusal.one-detail': shouldRow('Missing blobs are reported in exactly one status detail, a PreconditionFailure.', {
      needs: ['exec', 'worker'],
      note: 'Pants fails if there are more details.',
    }),
    'refusal.all-missing': shouldRow('All missing blobs are reported at once.', WORKER),
    'refusal.violation-type': shouldRow('Every violation that reports a missing blob has the type MISSING.', {
      needs: ['exec', 'worker'],
      note: 'Bazel uploads the blobs again only if all violations have this type.',
    }),
    'refusal.subject': shouldRow(
      'The subject of a violation is blobs/, the hash and the size, without an instance.',
      WORKER,
    ),
    'refusal.after-upload': mustRow('After an upload of the missing blob, the same action is executed.', WORKER),
    'refusal.wrong-size': mustRow('An action digest with the right hash and a wrong size is not found.', WORKER),
    'refusal.no-action': mustRow('A request without an action returns INVALID_ARGUMENT.', WORKER),
    'refusal.malformed-digest': mustRow(
      'An action digest with an invalid hash length returns INVALID_ARGUMENT.',
      WORKER,
    ),
    'refusal.not-an-action': shouldRow(
      'An action digest of a blob that is not an Action returns INVALID_ARGUMENT.',
      WORKER,
    ),
    'refusal.no-arguments': shouldRow('A command without arguments returns INVALID_ARGUMENT.', WORKER),
    'refusal.unknown-property': shouldRow(
      'An action with a platform property that no worker has stays QUEUED, or the error contains the property.',
      WORKER,
    ),
  },
  'Execution timeouts': {
    'timeout.expired': mustRow('A command that exceeds its timeout returns DEADLINE_EXCEEDED in the response.', WORKER),
    'timeout.partial-output': shouldRow('The output that a command wrote before its timeout is returned.', WORKER),
    'timeout.background': shouldRow('A command finishes even if a background process keeps its stdout open.', WORKER),
    'timeout.tree-killed': shouldRow('At the timeout, all processes that the command started are killed.', {
      needs: ['exec', 'worker'],
      note: 'Checked with a file in /tmp, if the next command runs on the same worker and can read it.',
    }),
    'timeout.too-long': mustRow('A timeout above the maximum is rejected.', WORKER),
    'timeout.negative': shouldRow('A negative timeout returns INVALID_ARGUMENT.', WORKER),
    'timeout.in-time': mustRow('A timeout does not affect a command that finishes before it.', WORKER),
  },
} satisfies BehaviourTable
