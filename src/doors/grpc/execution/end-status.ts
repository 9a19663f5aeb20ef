import type { OperationEnd } from '../../../engine/tasks/status.ts'
import { STATUS } from '../../../grpc/status.ts'
import type { StatusReport } from '../../../wire/google/status.ts'

/** How the grid fared with a task, in the words of the protocol. A command that exited with 1 is well. */
export function endStatus(end: OperationEnd): StatusReport {
  const code = codeOf(end)
  return { code, message: code === STATUS.ok ? '' : end.what, details: [] }
}

function codeOf(end: OperationEnd): number {
  switch (end.state) {
    case 'completed':
      return end.result === undefined ? STATUS.internal : STATUS.ok
    case 'timeout':
      return STATUS.deadlineExceeded
    case 'cancelled':
      return STATUS.cancelled
    case 'failed':
      return failureCode(end)
  }
}

/** Clients try again what is UNAVAILABLE or INTERNAL, and not what is a FAILED_PRECONDITION. */
function failureCode({ why }: OperationEnd): number {
  // It was lost together with its workers, which may not be its doing.
  if (why === 'poison') return STATUS.unavailable
  if (why === 'no-worker' || why === 'hopeless') return STATUS.failedPrecondition
  // Tried as often as it may be; clients may try again themselves.
  return why === 'faults' ? STATUS.unavailable : STATUS.internal
}
