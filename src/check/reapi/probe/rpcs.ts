import type { Rpc } from '../../../client/connection/rpc.ts'
import * as re from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import * as bs from '../../../wire/gen/google/bytestream/bytestream.ts'
import { withinCount } from '../../../wire/messages/within-count.ts'

interface Encoder<T> {
  encode(message: T): { finish(): Uint8Array }
}

interface Decoder<T> {
  decode(bytes: Uint8Array): T
}

export const rpc = <Request, Response>(path: string, request: Encoder<Request>, response: Decoder<Response>) =>
  ({
    path,
    encode: (message) => request.encode(message).finish(),
    decode: (bytes) => response.decode(bytes),
  }) satisfies Rpc<Request, Response>

const CAS = '/build.bazel.remote.execution.v2.ContentAddressableStorage'
const AC = '/build.bazel.remote.execution.v2.ActionCache'
const CAPABILITIES = '/build.bazel.remote.execution.v2.Capabilities'
const BYTESTREAM = '/google.bytestream.ByteStream'

/** The methods of a cache. */
export const RPC = {
  getCapabilities: rpc(
    `${CAPABILITIES}/GetCapabilities`,
    re.GetCapabilitiesRequest,
    withinCount(re.ServerCapabilities),
  ),
  findMissingBlobs: rpc(`${CAS}/FindMissingBlobs`, re.FindMissingBlobsRequest, re.FindMissingBlobsResponse),
  batchUpdateBlobs: rpc(`${CAS}/BatchUpdateBlobs`, re.BatchUpdateBlobsRequest, re.BatchUpdateBlobsResponse),
  batchReadBlobs: rpc(`${CAS}/BatchReadBlobs`, re.BatchReadBlobsRequest, re.BatchReadBlobsResponse),
  getTree: rpc(`${CAS}/GetTree`, re.GetTreeRequest, re.GetTreeResponse),
  splitBlob: rpc(`${CAS}/SplitBlob`, re.SplitBlobRequest, re.SplitBlobResponse),
  spliceBlob: rpc(`${CAS}/SpliceBlob`, re.SpliceBlobRequest, re.SpliceBlobResponse),
  getActionResult: rpc(`${AC}/GetActionResult`, re.GetActionResultRequest, re.ActionResult),
  updateActionResult: rpc(`${AC}/UpdateActionResult`, re.UpdateActionResultRequest, re.ActionResult),
  read: rpc(`${BYTESTREAM}/Read`, bs.ReadRequest, bs.ReadResponse),
  write: rpc(`${BYTESTREAM}/Write`, bs.WriteRequest, bs.WriteResponse),
  queryWriteStatus: rpc(`${BYTESTREAM}/QueryWriteStatus`, bs.QueryWriteStatusRequest, bs.QueryWriteStatusResponse),
}
