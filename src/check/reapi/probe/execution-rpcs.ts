import * as re from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import * as op from '../../../wire/gen/google/longrunning/operations.ts'
import { Empty } from '../../../wire/gen/google/protobuf/empty.ts'
import { decodeOperation, type OperationMessage, unpackOperation } from './operation-message.ts'
import { rpc } from './rpcs.ts'

const EXECUTION = '/build.bazel.remote.execution.v2.Execution'
const OPERATIONS = '/google.longrunning.Operations'

const OPERATION_ANSWER = { decode: decodeOperation }

export interface OperationListing {
  readonly operations: readonly OperationMessage[]
  readonly nextPageToken: string
}

const PAGE = {
  decode(bytes: Uint8Array): OperationListing {
    const { operations, nextPageToken } = op.ListOperationsResponse.decode(bytes)
    return { operations: operations.map(unpackOperation), nextPageToken }
  },
}

/** The methods of execution. */
export const EXECUTION_RPC = {
  execute: rpc(`${EXECUTION}/Execute`, re.ExecuteRequest, OPERATION_ANSWER),
  waitExecution: rpc(`${EXECUTION}/WaitExecution`, re.WaitExecutionRequest, OPERATION_ANSWER),
  getOperation: rpc(`${OPERATIONS}/GetOperation`, op.GetOperationRequest, OPERATION_ANSWER),
  listOperations: rpc(`${OPERATIONS}/ListOperations`, op.ListOperationsRequest, PAGE),
  cancelOperation: rpc(`${OPERATIONS}/CancelOperation`, op.CancelOperationRequest, Empty),
  deleteOperation: rpc(`${OPERATIONS}/DeleteOperation`, op.DeleteOperationRequest, Empty),
  waitOperation: rpc(`${OPERATIONS}/WaitOperation`, op.WaitOperationRequest, OPERATION_ANSWER),
}
