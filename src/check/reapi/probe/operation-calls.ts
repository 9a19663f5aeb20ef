import type { RpcClient } from '../../../client/connection/rpc.ts'
import type { Empty } from '../../../wire/gen/google/protobuf/empty.ts'
import { EXECUTION_RPC, type OperationListing } from './execution-rpcs.ts'
import { ifImplemented } from './implemented.ts'
import type { OperationMessage } from './operation-message.ts'

/** google.longrunning.Operations. Each method is not offered, where the server does not implement it. */
export interface OperationCalls {
  get(name: string): Promise<OperationMessage>
  cancel(name: string): Promise<Empty>
  delete(name: string): Promise<Empty>
  wait(name: string, timeoutSeconds: number): Promise<OperationMessage>
  list(name: string, page?: { readonly size?: number; readonly token?: string }): Promise<OperationListing>
}

export const operationCalls = (rpcs: RpcClient): OperationCalls => ({
  get: (name) => ifImplemented('GetOperation', rpcs.unary(EXECUTION_RPC.getOperation, { name })),
  cancel: (name) => ifImplemented('CancelOperation', rpcs.unary(EXECUTION_RPC.cancelOperation, { name })),
  delete: (name) => ifImplemented('DeleteOperation', rpcs.unary(EXECUTION_RPC.deleteOperation, { name })),
  wait: (name, seconds) =>
    ifImplemented('WaitOperation', rpcs.unary(EXECUTION_RPC.waitOperation, { name, timeout: { seconds, nanos: 0 } })),
  list: (name, { size = 0, token = '' } = {}) =>
    ifImplemented(
      'ListOperations',
      rpcs.unary(EXECUTION_RPC.listOperations, {
        name,
        filter: '',
        pageSize: size,
        pageToken: token,
        returnPartialSuccess: false,
      }),
    ),
})
