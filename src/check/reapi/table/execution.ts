import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const

export const EXECUTION = {
  'Execution.Execute': {
    'execute.runs': mustRow('A command that is executed is run, and its result given.', {
      needs: ['exec'],
      note: 'Where this fails, nothing else of execution can be checked; --platform says what the workers ask for.',
    }),
    'execute.first-at-once': shouldRow('The first message comes before the command is done.', WORKER),
    'execute.name-given': mustRow('Every message names the operation.', WORKER),
    'execute.name-stable': mustRow('All messages of one stream bear one name.', WORKER),
    'execute.name-unguessable': shouldRow('Names of operations cannot be guessed from one another.', WORKER),
    'execute.stages-known': mustRow('Every message names a stage that the API defines.', WORKER),
    'execute.stage-executing': shouldRow('While the command runs, the stage is EXECUTING.', WORKER),
    'execute.done-when-completed': mustRow('An operation is done exactly when its stage is COMPLETED.', WORKER),
    'execute.done-is-last': mustRow('The stream ends well after the message that is done.', WORKER),
    'execute.metadata-type': mustRow('The metadata are an ExecuteOperationMetadata by their exact type.', WORKER),
    'execute.response-type': mustRow('The response is an ExecuteResponse by its exact type.', WORKER),
    'execute.metadata-action': mustRow('The metadata name the action.', WORKER),
    'execute.metadata-function': shouldRow('The metadata name the digest function.', {
      since: '2.11',
      needs: ['exec', 'worker'],
    }),
    'execute.no-operation-error': mustRow('The error field is never set: what went wrong is in the response.', WORKER),
    'execute.stdout': mustRow('What the command writes to stdout is given, byte for byte.', WORKER),
    'execute.stderr': mustRow('What the command writes to stderr is given, byte for byte.', WORKER),
    'execute.large-stdout': mustRow('Some MiB of stdout are given whole, in messages that clients can take.', WORKER),
    'execute.exit-code': mustRow('A command that fails is a result with its exit code, and the status is OK.', WORKER),
    'execute.failed-outputs': mustRow('A command that fails has outputs as well.', WORKER),
    'execute.status-message': shouldRow('A status that is not OK says why.', WORKER),
    'execute.server-logs': shouldRow('Names of server logs stay within a folder, and the logs are there.', WORKER),
    'execute.unknown-fields-ignored': mustRow('Fields of a request that the server does not know are ignored.', WORKER),
    'execute.request-metadata': mustRow('A RequestMetadata header does no harm.', WORKER),
    'execute.garbage-metadata': shouldRow('A RequestMetadata header that makes no sense does no harm.', WORKER),
    'execute.inline-stdout': mustRow('stdout, where inlined, is right.', { since: '2.9', needs: ['exec', 'worker'] }),
    'execute.inline-files': mustRow('Output files, where inlined, are right, and their digests stay.', {
      since: '2.9',
      needs: ['exec', 'worker'],
    }),
    'execute.functions': mustRow('Actions are run under every digest function that execution advertises.', {
      since: '2.7',
      needs: ['exec', 'worker'],
    }),
    'execute.priority': mustRow('Priorities of the advertised ranges are accepted.', {
      needs: ['exec', 'worker', 'exec-priorities'],
    }),
    'execute.cache-priority': mustRow('A results_cache_policy does no harm.', WORKER),
  },
  'Execution caching': {
    'exec-cache.hit': shouldRow('What was executed before is answered from the cache, and says so.', WORKER),
    'exec-cache.hit-same': mustRow('The cached result is the one that was given first.', WORKER),
    'exec-cache.fresh': mustRow('What was run just now does not say that it is cached.', WORKER),
    'exec-cache.stored': shouldRow('GetActionResult finds what was executed.', WORKER),
    'exec-cache.skip-lookup': mustRow('With skip_cache_lookup the command is run again.', WORKER),
    'exec-cache.skip-overwrites': shouldRow(
      'What is run with skip_cache_lookup takes the place of an earlier result.',
      WORKER,
    ),
    'exec-cache.do-not-cache': mustRow('The result of a do_not_cache action is not stored.', WORKER),
    'exec-cache.do-not-cache-runs': mustRow('A do_not_cache action is run each time.', WORKER),
    'exec-cache.do-not-cache-unmerged': mustRow('Identical do_not_cache actions are not run as one.', WORKER),
    'exec-cache.merged': shouldRow('Identical actions under way at the same time are run once.', WORKER),
    'exec-cache.merged-cancel': shouldRow('Of identical actions under way, one can be cancelled alone.', WORKER),
    'exec-cache.failure': shouldRow('A result with an exit code other than 0 is not stored.', {
      needs: ['exec', 'worker'],
      note: 'Bazel takes a cached failure for a miss.',
    }),
    'exec-cache.failure-runs': shouldRow('A command that failed is run again.', WORKER),
    'exec-cache.expired': mustRow('A command that ran out of time leaves no result behind.', WORKER),
    'exec-cache.metadata': shouldRow('A cached result names the worker that ran it.', WORKER),
  },
  'Execution refusals': {
    'refusal.missing-action': mustRow('An action that is not there is FAILED_PRECONDITION.', WORKER),
    'refusal.missing-command': mustRow('An action whose command is not there is FAILED_PRECONDITION.', WORKER),
    'refusal.missing-root': mustRow('An action whose input root is not there is FAILED_PRECONDITION.', WORKER),
    'refusal.missing-file': mustRow('An action with an input file that is not there is FAILED_PRECONDITION.', WORKER),
    'refusal.missing-directory': mustRow(
      'An action with a directory that is not there is FAILED_PRECONDITION.',
      WORKER,
    ),
    'refusal.one-detail': shouldRow('Missing blobs are told in exactly one detail, a PreconditionFailure.', {
      needs: ['exec', 'worker'],
      note: 'Pants fails when there are more.',
    }),
    'refusal.all-missing': shouldRow('All missing blobs are named at once.', WORKER),
    'refusal.violation-type': shouldRow('Every violation that tells a missing blob has the type MISSING.', {
      needs: ['exec', 'worker'],
      note: 'Bazel uploads again only if all of them have it.',
    }),
    'refusal.subject': shouldRow(
      'The subject of a violation is blobs/, the hash and the size, without an instance.',
      WORKER,
    ),
    'refusal.after-upload': mustRow('Once the missing blob is there, the same action is run.', WORKER),
    'refusal.wrong-size': mustRow('The right hash with the wrong size is not the action.', WORKER),
    'refusal.no-action': mustRow('A request without an action is INVALID_ARGUMENT.', WORKER),
    'refusal.malformed-digest': mustRow('An action digest of impossible length is INVALID_ARGUMENT.', WORKER),
    'refusal.not-an-action': shouldRow('A blob that is no Action is INVALID_ARGUMENT.', WORKER),
    'refusal.no-arguments': shouldRow('A command without arguments is INVALID_ARGUMENT.', WORKER),
    'refusal.unknown-property': shouldRow(
      'An action with a platform property that no worker offers waits at stage QUEUED, or is refused by name.',
      WORKER,
    ),
  },
  'Execution timeouts': {
    'timeout.expired': mustRow('A command that runs out of time is DEADLINE_EXCEEDED, in the response.', WORKER),
    'timeout.partial-output': shouldRow('What a command wrote until its time was up is given.', WORKER),
    'timeout.background': shouldRow(
      'A command ends in time though something in the background holds its output.',
      WORKER,
    ),
    'timeout.tree-killed': shouldRow('Nothing that a command started is left running when its time is up.', {
      needs: ['exec', 'worker'],
      note: 'Seen by a file in /tmp, where the next command runs on the same worker and sees it.',
    }),
    'timeout.too-long': mustRow('A timeout beyond the longest allowed is refused.', WORKER),
    'timeout.negative': shouldRow('A negative timeout is INVALID_ARGUMENT.', WORKER),
    'timeout.in-time': mustRow('A command that ends in time is not touched by its timeout.', WORKER),
  },
} satisfies BehaviourTable
