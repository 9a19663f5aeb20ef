import { once } from 'node:events'
import type { Timing } from '../../src/grpc/http2/timing.ts'
import type { Metadata } from '../../src/grpc/metadata.ts'
import type { Incoming, Method, Outgoing, ServerCall, Service } from '../../src/grpc/service.ts'
import { GrpcError, type MetadataInit, type StatusCode } from '../../src/grpc/status.ts'
import { fieldPairs, gatherFields, SERVICE } from './conversation.ts'
import { DETAILS, FAIL_TRAILERS, nothingSeen, payload, type SeenSoFar, tally } from './requests.ts'

/** The Interop service on our engine. The same service exists on grpc-js and in Python. */
export function interopService(timing: Timing): Service {
  const seen = nothingSeen()
  const methods: Record<string, Method> = {
    Unary: { kind: 'unary', handle: (request) => request },
    ServerStream: { kind: 'serverStreaming', handle: serverStream },
    ClientStream: { kind: 'clientStreaming', handle: clientStream },
    Bidi: { kind: 'bidi', handle: bidi },
    Fail: { kind: 'unary', handle: fail },
    Metadata: { kind: 'unary', handle: echoMetadata },
    Early: { kind: 'clientStreaming', handle: async (requests) => (await requests.next()) ?? new Uint8Array() },
    EarlyBidi: { kind: 'bidi', handle: async (requests, out) => void out.write((await requests.next()) as Uint8Array) },
    Large: { kind: 'serverStreaming', handle: large(seen) },
    Slow: {
      kind: 'serverStreaming',
      async handle(request, out, call) {
        seen.waiting++
        seen.remainingMs = call.deadline === undefined ? null : call.deadline - timing.now()
        out.write(request)
        if (!call.signal.aborted) await once(call.signal, 'abort')
        seen.stopped++
      },
    },
    Seen: { kind: 'unary', handle: () => Buffer.from(JSON.stringify(seen)) },
  }
  return { name: SERVICE, methods }
}

async function serverStream(request: Uint8Array, out: Outgoing): Promise<void> {
  const count = Buffer.from(request).readUInt32BE(0)
  for (let i = 0; i < count; i++) if (!out.write(request.subarray(4))) await out.drained()
}

async function clientStream(requests: Incoming): Promise<Uint8Array> {
  const messages: Uint8Array[] = []
  for await (const message of requests) messages.push(message)
  return tally(messages)
}

async function bidi(requests: Incoming, out: Outgoing): Promise<void> {
  for await (const message of requests) if (!out.write(message)) await out.drained()
}

const large =
  (seen: SeenSoFar) =>
  async (request: Uint8Array, out: Outgoing): Promise<void> => {
    const [count, size] = [Buffer.from(request).readUInt32BE(0), Buffer.from(request).readUInt32BE(4)]
    const message = payload(size)
    for (seen.sent = 1; seen.sent <= count; seen.sent++) if (!out.write(message)) await out.drained()
  }

function fail(request: Uint8Array): never {
  const code = Buffer.from(request).readUInt32BE(0) as StatusCode
  const message = Buffer.from(request.subarray(4)).toString('utf8')
  throw new GrpcError(code, message, { details: DETAILS, trailers: metadataInit(fieldPairs(FAIL_TRAILERS)) })
}

function echoMetadata(_request: Uint8Array, call: ServerCall): Uint8Array {
  const init = metadataInit(fieldPairs(gatherFields(receivedPairs(call.metadata))))
  call.sendHeaders(init)
  call.setTrailers(init)
  return new Uint8Array()
}

/** Received metadata, with Buffers for binary fields. */
export function* receivedPairs(metadata: Metadata): Generator<readonly [string, string | Uint8Array]> {
  const names = new Set<string>()
  for (const [name, value] of metadata.entries()) {
    if (!name.endsWith('-bin')) yield [name, value]
    else if (!names.has(name)) for (const bytes of metadata.getBinary(name)) yield [name, bytes]
    names.add(name)
  }
}

/** One entry per name, as our engine expects it. */
export function metadataInit(pairs: readonly [string, string | Uint8Array][]): MetadataInit {
  const init: Record<string, (string | Uint8Array)[]> = {}
  for (const [name, value] of pairs) init[name] = [...(init[name] ?? []), value]
  return init
}
