import type { ServerCall } from '../../../grpc/service.ts'
import type * as re from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type * as bs from '../../../wire/gen/google/bytestream/bytestream.ts'

/** The services of a cache, on decoded messages. Errors are GrpcErrors. */
export interface Methods {
  getCapabilities(request: re.GetCapabilitiesRequest, call: ServerCall): re.ServerCapabilities
  findMissingBlobs(request: re.FindMissingBlobsRequest): re.FindMissingBlobsResponse
  batchUpdateBlobs(request: re.BatchUpdateBlobsRequest): re.BatchUpdateBlobsResponse
  batchReadBlobs(request: re.BatchReadBlobsRequest): re.BatchReadBlobsResponse
  /** The pages of one answer. */
  getTree(request: re.GetTreeRequest): readonly re.GetTreeResponse[]
  splitBlob(request: re.SplitBlobRequest): re.SplitBlobResponse
  spliceBlob(request: re.SpliceBlobRequest): re.SpliceBlobResponse
  getActionResult(request: re.GetActionResultRequest): re.ActionResult
  updateActionResult(request: re.UpdateActionResultRequest): re.ActionResult
  /** The data of one answer's messages. */
  read(request: bs.ReadRequest, call: ServerCall): readonly Uint8Array[]
  write(requests: AsyncIterable<bs.WriteRequest>, call: ServerCall): Promise<bs.WriteResponse>
  queryWriteStatus(request: bs.QueryWriteStatusRequest): bs.QueryWriteStatusResponse
  /** Defects below the level of messages. */
  readonly below?: {
    /** Treats an invalid message as an empty one. */
    readonly decodesAnything?: true
    /** Rejects messages with unknown fields. */
    readonly refusesUnknownFields?: true
    /** Ends a stream when the client is slow, instead of waiting. */
    readonly leavesSlowReaders?: true
  }
}
