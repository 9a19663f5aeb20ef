import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const

export const OPERATIONS = {
  'Execution.WaitExecution': {
    'wait-execution.current': mustRow('The first message of WaitExecution says how it stands, at once.', WORKER),
    'wait-execution.until-done': mustRow('The last message of WaitExecution is done, with the result.', WORKER),
    'wait-execution.same-name': mustRow('Messages of WaitExecution bear the name that was asked for.', WORKER),
    'wait-execution.after-end': shouldRow('An operation that has ended can be waited for, for a while.', WORKER),
    'wait-execution.unknown': mustRow('A name that nobody has is NOT_FOUND.', WORKER),
    'wait-execution.several': mustRow('Several can wait for one operation.', WORKER),
    'wait-execution.dropped-execute': mustRow('A client that leaves Execute has not cancelled it.', WORKER),
    'wait-execution.dropped': mustRow(
      'A client that leaves WaitExecution has not cancelled what it waited for.',
      WORKER,
    ),
  },
  Operations: {
    'operations.implemented': mustRow('GetOperation is implemented.', WORKER),
    'operations.get': mustRow('A running operation is given as it stands.', WORKER),
    'operations.get-ended': mustRow('An operation that has ended is given with its result.', WORKER),
    'operations.get-unknown': mustRow('A name that nobody has is NOT_FOUND.', WORKER),
    'operations.cancel': mustRow('A cancelled operation is done, with CANCELLED in its response.', WORKER),
    'operations.cancel-unknown': mustRow('To cancel what is not there is NOT_FOUND.', WORKER),
    'operations.cancel-ended': mustRow('To cancel what has ended changes nothing.', WORKER),
    'operations.cancel-uncached': mustRow('What was cancelled leaves no result behind.', WORKER),
    'operations.list': mustRow('A running operation is listed.', WORKER),
    'operations.list-pages': mustRow('A page has no more than was asked for, and leads to the next.', WORKER),
    'operations.delete': mustRow('To delete an operation is no error.', WORKER),
    'operations.delete-unknown': shouldRow('To delete what is not there is NOT_FOUND.', WORKER),
    'operations.wait': mustRow('WaitOperation answers when the operation is done.', WORKER),
    'operations.wait-late': mustRow('WaitOperation answers with how it stands when the time is up.', WORKER),
  },
  LogStream: {
    'log-stream.stdout': mustRow('Whoever follows stdout_stream_name reads all of stdout.', WORKER),
    'log-stream.stderr': mustRow('Whoever follows stderr_stream_name reads all of stderr.', WORKER),
    'log-stream.live': shouldRow('What is written is read while the command still runs.', WORKER),
  },
} satisfies BehaviourTable
