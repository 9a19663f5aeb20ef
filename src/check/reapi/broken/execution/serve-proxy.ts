import type { Channel } from '../../../../grpc/client/channel.ts'
import type { Timing } from '../../../../grpc/http2/timing.ts'
import { createServer } from '../../../../grpc/server/server.ts'
import type { ClientStreamingMethod, Method, ServerCall, Service, UnaryMethod } from '../../../../grpc/service.ts'
import { GrpcError, STATUS } from '../../../../grpc/status.ts'
import * as re from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import * as bs from '../../../../wire/gen/google/bytestream/bytestream.ts'
import * as op from '../../../../wire/gen/google/longrunning/operations.ts'
import { Empty } from '../../../../wire/gen/google/protobuf/empty.ts'
import type { OperationListing } from '../../probe/execution-rpcs.ts'
import { encodeOperation, packOperation } from '../../probe/operation-message.ts'
import type { ProxyMethods } from './proxy.ts'

interface Reader<T> {
  decode(bytes: Uint8Array): T
}

const written =
  <T>(codec: { encode(message: T): { finish(): Uint8Array } }) =>
  (message: T): Uint8Array =>
    codec.encode(message).finish()

const pageBytes = ({ operations, nextPageToken }: OperationListing): Uint8Array =>
  op.ListOperationsResponse.encode({
    operations: operations.map(packOperation),
    nextPageToken,
    unreachable: [],
  }).finish()

const unary = <Request, Response>(
  request: Reader<Request>,
  answer: (request: Request) => Promise<Response>,
  write: (response: Response) => Uint8Array,
): Method => ({ kind: 'unary', handle: async (bytes) => write(await answer(request.decode(bytes))) })

const stream = <Request, Response>(
  request: Reader<Request>,
  answer: (request: Request, call: ServerCall) => AsyncIterable<Response>,
  write: (response: Response) => Uint8Array,
): Method => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    for await (const message of answer(request.decode(bytes), call)) {
      if (!out.write(write(message))) await out.drained()
    }
  },
})

const passedOn = (channel: Channel): UnaryMethod => ({
  kind: 'unary',
  handle: async (bytes, { path }) => (await channel.unary(path, bytes)).message,
})

const uploadPassedOn = (channel: Channel): ClientStreamingMethod => ({
  kind: 'clientStreaming',
  async handle(requests, { path }) {
    const call = channel.open(path)
    for await (const message of requests) if (!call.write(message)) await call.drained()
    call.finish()
    const answer = await call.next()
    await call.trailers
    return answer ?? new Uint8Array()
  },
})

/** A decoded and encoded message has lost its unknown fields. */
const knownFieldsOnly: Reader<re.ExecuteRequest> = {
  decode(bytes) {
    const request = re.ExecuteRequest.decode(bytes)
    const isWhole = re.ExecuteRequest.encode(request).finish().length === bytes.length
    if (!isWhole) throw new GrpcError(STATUS.invalidArgument, 'unknown fields')
    return request
  },
}

const V2 = 'build.bazel.remote.execution.v2'

const servicesOf = (methods: ProxyMethods, channel: Channel): Service[] => [
  { name: `${V2}.Capabilities`, methods: { GetCapabilities: passedOn(channel) } },
  {
    name: `${V2}.Execution`,
    methods: {
      Execute: stream(
        methods.refusesUnknownFields ? knownFieldsOnly : re.ExecuteRequest,
        methods.execute,
        encodeOperation,
      ),
      WaitExecution: stream(re.WaitExecutionRequest, methods.waitExecution, encodeOperation),
    },
  },
  {
    name: 'google.longrunning.Operations',
    methods: {
      GetOperation: unary(op.GetOperationRequest, methods.getOperation, encodeOperation),
      ListOperations: unary(op.ListOperationsRequest, methods.listOperations, pageBytes),
      CancelOperation: unary(op.CancelOperationRequest, methods.cancelOperation, written(Empty)),
      DeleteOperation: unary(op.DeleteOperationRequest, methods.deleteOperation, written(Empty)),
      WaitOperation: unary(op.WaitOperationRequest, methods.waitOperation, encodeOperation),
    },
  },
  {
    name: `${V2}.ActionCache`,
    methods: {
      GetActionResult: unary(re.GetActionResultRequest, methods.getActionResult, written(re.ActionResult)),
    },
  },
  {
    name: `${V2}.ContentAddressableStorage`,
    methods: {
      FindMissingBlobs: unary(
        re.FindMissingBlobsRequest,
        methods.findMissingBlobs,
        written(re.FindMissingBlobsResponse),
      ),
    },
  },
  {
    name: 'google.bytestream.ByteStream',
    methods: { Read: stream(bs.ReadRequest, methods.read, written(bs.ReadResponse)), Write: uploadPassedOn(channel) },
  },
]

export async function serveProxy(methods: ProxyMethods, channel: Channel, timing: Timing) {
  const server = createServer({ services: servicesOf(methods, channel), timing })
  return { server, address: await server.listen({ host: '127.0.0.1', port: 0 }) }
}
