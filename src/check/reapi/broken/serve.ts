import type { ListenAddress } from '../../../grpc/address.ts'
import type { Timing } from '../../../grpc/http2/timing.ts'
import { createServer, type ServerTls } from '../../../grpc/server/server.ts'
import type { Incoming, Method, Outgoing, ServerCall, Service } from '../../../grpc/service.ts'
import { GrpcError, STATUS } from '../../../grpc/status.ts'
import * as re from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import * as bs from '../../../wire/gen/google/bytestream/bytestream.ts'
import type { Methods } from './methods.ts'

interface Codec<T> {
  encode(message: T): { finish(): Uint8Array }
  decode(bytes: Uint8Array): T
}

type Below = NonNullable<Methods['below']>

function decoded<T>(codec: Codec<T>, bytes: Uint8Array, below: Below): T {
  try {
    const message = codec.decode(bytes)
    const isWhole = codec.encode(message).finish().length === bytes.length
    if (below.refusesUnknownFields && !isWhole) throw new Error('unknown fields')
    return message
  } catch (error) {
    if (below.decodesAnything) return codec.decode(new Uint8Array())
    throw new GrpcError(STATUS.invalidArgument, `no message: ${String(error)}`)
  }
}

interface Handler<Request, Response> {
  readonly request: Codec<Request>
  readonly response: Codec<Response>
  readonly below?: Below | undefined
}

const unary = <Request, Response>(
  { request, response, below = {} }: Handler<Request, Response>,
  answer: (request: Request, call: ServerCall) => Response,
): Method => ({
  kind: 'unary',
  handle: (bytes, call) => response.encode(answer(decoded(request, bytes, below), call)).finish(),
})

const stream = <Request, Response>(
  { request, response, below = {} }: Handler<Request, Response>,
  answer: (request: Request, call: ServerCall) => Iterable<Response>,
): Method => ({
  kind: 'serverStreaming',
  async handle(bytes, out: Outgoing, call) {
    for (const message of answer(decoded(request, bytes, below), call)) {
      if (out.write(response.encode(message).finish())) continue
      if (below.leavesSlowReaders) return
      await out.drained()
    }
  },
})

async function* writeRequests(incoming: Incoming): AsyncGenerator<bs.WriteRequest> {
  for await (const message of incoming) yield decoded(bs.WriteRequest, message, {})
}

const V2 = 'build.bazel.remote.execution.v2'

const capabilities = ({ getCapabilities, below }: Methods): Service => ({
  name: `${V2}.Capabilities`,
  methods: {
    GetCapabilities: unary(
      { request: re.GetCapabilitiesRequest, response: re.ServerCapabilities, below },
      getCapabilities,
    ),
  },
})

const cas = (methods: Methods): Service => ({
  name: `${V2}.ContentAddressableStorage`,
  methods: {
    FindMissingBlobs: unary(
      { request: re.FindMissingBlobsRequest, response: re.FindMissingBlobsResponse },
      methods.findMissingBlobs,
    ),
    BatchUpdateBlobs: unary(
      { request: re.BatchUpdateBlobsRequest, response: re.BatchUpdateBlobsResponse },
      methods.batchUpdateBlobs,
    ),
    BatchReadBlobs: unary(
      { request: re.BatchReadBlobsRequest, response: re.BatchReadBlobsResponse },
      methods.batchReadBlobs,
    ),
    GetTree: stream({ request: re.GetTreeRequest, response: re.GetTreeResponse }, methods.getTree),
    SplitBlob: unary({ request: re.SplitBlobRequest, response: re.SplitBlobResponse }, methods.splitBlob),
    SpliceBlob: unary({ request: re.SpliceBlobRequest, response: re.SpliceBlobResponse }, methods.spliceBlob),
  },
})

const actionCache = ({ getActionResult, updateActionResult }: Methods): Service => ({
  name: `${V2}.ActionCache`,
  methods: {
    GetActionResult: unary({ request: re.GetActionResultRequest, response: re.ActionResult }, getActionResult),
    UpdateActionResult: unary({ request: re.UpdateActionResultRequest, response: re.ActionResult }, updateActionResult),
  },
})

const byteStream = ({ read, write, queryWriteStatus, below }: Methods): Service => ({
  name: 'google.bytestream.ByteStream',
  methods: {
    Read: stream({ request: bs.ReadRequest, response: bs.ReadResponse, below }, (request, call) =>
      read(request, call).map((data) => ({ data })),
    ),
    Write: {
      kind: 'clientStreaming',
      handle: async (incoming, call) => bs.WriteResponse.encode(await write(writeRequests(incoming), call)).finish(),
    },
    QueryWriteStatus: unary(
      { request: bs.QueryWriteStatusRequest, response: bs.QueryWriteStatusResponse },
      queryWriteStatus,
    ),
  },
})

export interface ScriptedServer {
  readonly timing: Timing
  /** By default a free port on localhost. */
  readonly address?: ListenAddress
  readonly tls?: ServerTls
}

export async function serve(
  methods: Methods,
  { timing, tls, address = { host: '127.0.0.1', port: 0 } }: ScriptedServer,
) {
  const server = createServer({
    services: [capabilities, cas, actionCache, byteStream].map((service) => service(methods)),
    timing,
    ...(tls === undefined ? {} : { tls }),
  })
  return { server, address: await server.listen(address) }
}
