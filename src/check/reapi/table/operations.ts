import { type BehaviourTable, mustRow, shouldRow } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const

export const OPERATIONS = {
  'Execution.WaitExecution': {
    'wait-execution.current': mustRow(
      'The first message of WaitExecution contains the current state, without delay.',
      WORKER,
    ),
    'wait-execution.until-done': mustRow('The last message of WaitExecution is done, with the result.', WORKER),
    'wait-execution.same-name': mustRow('Messages of WaitExecution contain the requested name.', WORKER),
    'wait-execution.after-end': shouldRow('WaitExecution works for an operation that has just finished.', WORKER),
    'wait-execution.unknown': mustRow('An unknown operation name returns NOT_FOUND.', WORKER),
    'wait-execution.several': mustRow('Several clients can wait for one operation.', WORKER),
    'wait-execution.dropped-execute': mustRow(
      'A client that disconnects from Execute does not cancel the operation.',
      WORKER,
    ),
    'wait-execution.dropped': mustRow(
      'A client that disconnects from WaitExecution does not cancel the operation.',
      WORKER,
    ),
  },
  Operations: {
    'operations.implemented': mustRow('GetOperation is implemented.', WORKER),
    'operations.get': mustRow('GetOperation returns the current state of a running operation.', WORKER),
    'operations.get-ended': mustRow('GetOperation returns a finished operation with its result.', WORKER),
    'operations.get-unknown': mustRow('An unknown operation name returns NOT_FOUND.', WORKER),
    'operations.cancel': mustRow('A cancelled operation is done, with CANCELLED in its response.', WORKER),
    'operations.cancel-unknown': mustRow('Cancelling an unknown operation returns NOT_FOUND.', WORKER),
    'operations.cancel-ended': mustRow('Cancelling a finished operation changes nothing.', WORKER),
    'operations.cancel-uncached': mustRow('A cancelled operation stores no result.', WORKER),
    'operations.list': mustRow('A running operation is listed.', WORKER),
    'operations.list-pages': mustRow('A page has at most page_size operations and a token for the next page.', WORKER),
    'operations.delete': mustRow('Deleting an operation returns OK.', WORKER),
    'operations.delete-unknown': shouldRow('Deleting an unknown operation returns NOT_FOUND.', WORKER),
    'operations.wait': mustRow('WaitOperation returns when the operation is done.', WORKER),
    'operations.wait-late': mustRow('WaitOperation returns the current state at its timeout.', WORKER),
  },
  LogStream: {
    'log-stream.stdout': mustRow('The stream stdout_stream_name contains all of stdout.', WORKER),
    'log-stream.stderr': mustRow('The stream stderr_stream_name contains all of stderr.', WORKER),
    'log-stream.live': shouldRow('Output can be read from the stream while the command still runs.', WORKER),
  },
} satisfies BehaviourTable
