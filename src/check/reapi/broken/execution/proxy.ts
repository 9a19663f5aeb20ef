/**
 * A small server cannot implement execution correctly, so the broken server is a proxy before a real one: it forwards
 * everything except for one defect in the requests or responses.
 */
import type { Clock } from '../../../../base/clock.ts'
import { allMessagesOf, rpcClient } from '../../../../client/connection/rpc.ts'
import type { Channel } from '../../../../grpc/client/channel.ts'
import type { ServerCall } from '../../../../grpc/service.ts'
import { GrpcError, STATUS } from '../../../../grpc/status.ts'
import * as re from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type * as bs from '../../../../wire/gen/google/bytestream/bytestream.ts'
import type * as op from '../../../../wire/gen/google/longrunning/operations.ts'
import type { Empty } from '../../../../wire/gen/google/protobuf/empty.ts'
import { DIGEST_FNS, type DigestFn, digestWith, fieldOf } from '../../probe/digest-functions.ts'
import { EXECUTION_RPC, type OperationListing } from '../../probe/execution-rpcs.ts'
import type { OperationMessage } from '../../probe/operation-message.ts'
import { RPC } from '../../probe/rpcs.ts'

/** The methods that a defect can replace, on decoded messages. Errors are GrpcErrors. */
export interface ProxyMethods {
  execute(request: re.ExecuteRequest, call: ServerCall): AsyncIterable<OperationMessage>
  waitExecution(request: re.WaitExecutionRequest, call: ServerCall): AsyncIterable<OperationMessage>
  getOperation(request: op.GetOperationRequest): Promise<OperationMessage>
  listOperations(request: op.ListOperationsRequest): Promise<OperationListing>
  cancelOperation(request: op.CancelOperationRequest): Promise<Empty>
  deleteOperation(request: op.DeleteOperationRequest): Promise<Empty>
  waitOperation(request: op.WaitOperationRequest): Promise<OperationMessage>
  getActionResult(request: re.GetActionResultRequest): Promise<re.ActionResult>
  findMissingBlobs(request: re.FindMissingBlobsRequest): Promise<re.FindMissingBlobsResponse>
  read(request: bs.ReadRequest, call: ServerCall): AsyncIterable<bs.ReadResponse>
  /** A defect below the level of messages: rejects messages with unknown fields. */
  readonly refusesUnknownFields?: true
}

/** The real server. */
export interface UpstreamServer {
  readonly methods: ProxyMethods
  /** Empty if the blob is missing. */
  blob(digest: re.Digest | undefined): Promise<Uint8Array>
  store(bytes: Uint8Array): Promise<re.Digest>
  pause(ms: number): Promise<void>
}

export function upstreamServer(channel: Channel, clock: Clock): UpstreamServer {
  const rpcs = rpcClient(channel)
  const fn = DIGEST_FNS[0] as DigestFn
  const methods: ProxyMethods = {
    execute: (request, { signal }) => rpcs.stream(EXECUTION_RPC.execute, request, { signal }),
    waitExecution: (request, { signal }) => rpcs.stream(EXECUTION_RPC.waitExecution, request, { signal }),
    getOperation: (request) => rpcs.unary(EXECUTION_RPC.getOperation, request),
    listOperations: (request) => rpcs.unary(EXECUTION_RPC.listOperations, request),
    cancelOperation: (request) => rpcs.unary(EXECUTION_RPC.cancelOperation, request),
    deleteOperation: (request) => rpcs.unary(EXECUTION_RPC.deleteOperation, request),
    waitOperation: (request) => rpcs.unary(EXECUTION_RPC.waitOperation, request),
    getActionResult: (request) => rpcs.unary(RPC.getActionResult, request),
    findMissingBlobs: (request) => rpcs.unary(RPC.findMissingBlobs, request),
    read: (request, { signal }) => rpcs.stream(RPC.read, request, { signal }),
  }
  return {
    methods,
    async blob(digest) {
      if (digest === undefined) return new Uint8Array()
      const request = { resourceName: `blobs/${digest.hash}/${digest.sizeBytes}`, readOffset: 0, readLimit: 0 }
      try {
        return Buffer.concat((await allMessagesOf(rpcs.stream(RPC.read, request))).map(({ data }) => data))
      } catch (error) {
        if (error instanceof GrpcError && error.code === STATUS.notFound) return new Uint8Array()
        throw error
      }
    },
    pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    async store(bytes) {
      const digest = digestWith(fn, bytes)
      const requests = [re.BatchUpdateBlobsRequest_Request.fromPartial({ digest, data: bytes })]
      await rpcs.unary(RPC.batchUpdateBlobs, { instanceName: '', requests, digestFunction: fieldOf(fn) })
      return digest
    },
  }
}
