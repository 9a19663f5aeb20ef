import type { Service } from '../../src/grpc/service.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'

/** One method of each kind; none of them throws anything but a GrpcError. */
export const PATHS = {
  echo: '/fuzz.Fuzz/Echo',
  later: '/fuzz.Fuzz/Later',
  stream: '/fuzz.Fuzz/Stream',
  collect: '/fuzz.Fuzz/Collect',
  early: '/fuzz.Fuzz/Early',
  talk: '/fuzz.Fuzz/Talk',
  idle: '/fuzz.Fuzz/Idle',
  refuse: '/fuzz.Fuzz/Refuse',
  meta: '/fuzz.Fuzz/Meta',
} as const

const BLOCK = Buffer.alloc(1000, 7)

export const fuzzService: Service = {
  name: 'fuzz.Fuzz',
  methods: {
    Echo: { kind: 'unary', handle: (request) => request },
    Later: { kind: 'unary', handle: async (request) => Promise.resolve(request) },
    /** Sends as many kilobytes as the first two bytes of the request state, at most 256. */
    Stream: {
      kind: 'serverStreaming',
      async handle(request, out, call) {
        const count = Math.min(256, (request[0] ?? 0) * 256 + (request[1] ?? 0))
        for (let i = 0; i < count && !call.cancelled; i++) if (!out.write(BLOCK)) await out.drained()
      },
    },
    Collect: {
      kind: 'clientStreaming',
      async handle(requests) {
        let size = 0
        for await (const request of requests) size += request.length
        return Buffer.from(String(size))
      },
    },
    Early: { kind: 'clientStreaming', handle: async (requests) => (await requests.next()) ?? BLOCK },
    Talk: {
      kind: 'bidi',
      async handle(requests, out) {
        for await (const request of requests) if (!out.write([request, request])) await out.drained()
      },
    },
    /** Reads nothing until the call is over. */
    Idle: {
      kind: 'bidi',
      handle: (_requests, _out, { signal }) =>
        new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve()))),
    },
    Refuse: {
      kind: 'unary',
      handle() {
        throw new GrpcError(STATUS.notFound, 'naïve 📦 100%', { details: BLOCK, trailers: { 'x-why': 'so' } })
      },
    },
    Meta: {
      kind: 'unary',
      handle(request, call) {
        call.sendHeaders({ 'x-size': String(request.length), 'x-all-bin': request })
        call.setTrailers({ 'x-user': call.metadata.get('user-agent') === undefined ? 'none' : 'some' })
        return request
      },
    },
  },
}
