import { type BehaviourTable, must, should } from './row.ts'

const WORKER = { needs: ['exec', 'worker'] } as const

export const OPERATIONS = {
  'Execution.WaitExecution': {
    'wait-execution.current': must('The first message of WaitExecution says how it stands, at once.', WORKER),
    'wait-execution.until-done': must('The last message of WaitExecution is done, with the result.', WORKER),
    'wait-execution.same-name': must('Messages of WaitExecution bear the name that was asked for.', WORKER),
    'wait-execution.after-end': should('An operation that has ended can be waited for, for a while.', WORKER),
    'wait-execution.unknown': must('A name that nobody has is NOT_FOUND.', WORKER),
    'wait-execution.several': must('Several can wait for one operation.', WORKER),
    'wait-execution.dropped-execute': must('A client that leaves Execute has not cancelled it.', WORKER),
    'wait-execution.dropped': must('A client that leaves WaitExecution has not cancelled what it waited for.', WORKER),
  },
  Operations: {
    'operations.implemented': must('GetOperation is implemented.', WORKER),
    'operations.get': must('A running operation is given as it stands.', WORKER),
    'operations.get-ended': must('An operation that has ended is given with its result.', WORKER),
    'operations.get-unknown': must('A name that nobody has is NOT_FOUND.', WORKER),
    'operations.cancel': must('A cancelled operation is done, with CANCELLED in its response.', WORKER),
    'operations.cancel-unknown': must('To cancel what is not there is NOT_FOUND.', WORKER),
    'operations.cancel-ended': must('To cancel what has ended changes nothing.', WORKER),
    'operations.cancel-uncached': must('What was cancelled leaves no result behind.', WORKER),
    'operations.list': must('A running operation is listed.', WORKER),
    'operations.list-pages': must('A page has no more than was asked for, and leads to the next.', WORKER),
    'operations.delete': must('To delete an operation is no error.', WORKER),
    'operations.delete-unknown': should('To delete what is not there is NOT_FOUND.', WORKER),
    'operations.wait': must('WaitOperation answers when the operation is done.', WORKER),
    'operations.wait-late': must('WaitOperation answers with how it stands when the time is up.', WORKER),
  },
  LogStream: {
    'log-stream.stdout': must('Whoever follows stdout_stream_name reads all of stdout.', WORKER),
    'log-stream.stderr': must('Whoever follows stderr_stream_name reads all of stderr.', WORKER),
    'log-stream.live': should('What is written is read while the command still runs.', WORKER),
  },
} satisfies BehaviourTable
