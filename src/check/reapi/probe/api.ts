import type { RpcClient } from '../../../client/connection/rpc.ts'
import { allMessagesOf } from '../../../client/connection/rpc.ts'
import type { CallOptions } from '../../../grpc/client/call-options.ts'
import * as re from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { type DigestFn, fieldOf } from './digest-functions.ts'
import { ifImplemented } from './implemented.ts'
import { RPC } from './rpcs.ts'

/** The parts of a message that a check sets. */
type Some<T> = Partial<Omit<T, 'instanceName'>> & { readonly instanceName?: string }

/** The unary methods and GetTree, with the instance and the digest function filled in. */
export interface Api {
  capabilities(options?: CallOptions): Promise<re.ServerCapabilities>
  /** The digests that the server reports as missing. */
  findMissing(digests: readonly re.Digest[], more?: Some<re.FindMissingBlobsRequest>): Promise<readonly re.Digest[]>
  batchUpdate(
    requests: readonly Partial<re.BatchUpdateBlobsRequest_Request>[],
    more?: Some<re.BatchUpdateBlobsRequest>,
  ): Promise<readonly re.BatchUpdateBlobsResponse_Response[]>
  batchRead(
    digests: readonly re.Digest[],
    more?: Some<re.BatchReadBlobsRequest>,
  ): Promise<readonly re.BatchReadBlobsResponse_Response[]>
  /** All pages that the server sends for one request. The behaviour is not offered if GetTree is not implemented. */
  getTree(rootDigest: re.Digest, more?: Some<re.GetTreeRequest>): Promise<re.GetTreeResponse[]>
  split(request: Some<re.SplitBlobRequest>): Promise<re.SplitBlobResponse>
  splice(request: Some<re.SpliceBlobRequest>): Promise<re.SpliceBlobResponse>
  getResult(actionDigest: re.Digest | undefined, more?: Some<re.GetActionResultRequest>): Promise<re.ActionResult>
  updateResult(request: Some<re.UpdateActionResultRequest>): Promise<re.ActionResult>
  /** Bytes as they are, for messages that no codec would make. */
  raw(path: string, message: Uint8Array, options?: CallOptions): Promise<Uint8Array>
}

export function reapi(rpcs: RpcClient, instanceName: string, fn: DigestFn): Api {
  const common = { instanceName, digestFunction: fieldOf(fn) }
  return {
    capabilities: (options) => rpcs.unary(RPC.getCapabilities, { instanceName }, options),
    async findMissing(blobDigests, more) {
      const answer = await rpcs.unary(RPC.findMissingBlobs, { ...common, blobDigests, ...more })
      return answer.missingBlobDigests
    },
    async batchUpdate(requests, more) {
      const whole = requests.map((each) => re.BatchUpdateBlobsRequest_Request.fromPartial(each))
      return (await rpcs.unary(RPC.batchUpdateBlobs, { ...common, requests: whole, ...more })).responses
    },
    async batchRead(digests, more) {
      const request = { ...common, digests, acceptableCompressors: [], ...more }
      return (await rpcs.unary(RPC.batchReadBlobs, request)).responses
    },
    getTree: (rootDigest, more) =>
      ifImplemented(
        'GetTree',
        allMessagesOf(rpcs.stream(RPC.getTree, { ...common, rootDigest, pageSize: 0, pageToken: '', ...more })),
      ),
    split: (request) =>
      rpcs.unary(RPC.splitBlob, { ...common, blobDigest: undefined, chunkingFunction: 0, ...request }),
    splice: (request) =>
      rpcs.unary(RPC.spliceBlob, {
        ...common,
        blobDigest: undefined,
        chunkDigests: [],
        chunkingFunction: 0,
        ...request,
      }),
    getResult: (actionDigest, more) =>
      rpcs.unary(RPC.getActionResult, {
        ...common,
        actionDigest,
        inlineStdout: false,
        inlineStderr: false,
        inlineOutputFiles: [],
        ...more,
      }),
    updateResult: (request) =>
      rpcs.unary(RPC.updateActionResult, {
        ...common,
        actionDigest: undefined,
        actionResult: undefined,
        resultsCachePolicy: undefined,
        ...request,
      }),
    raw: rpcs.raw,
  }
}
