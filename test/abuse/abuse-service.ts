import type { Service } from '../../src/grpc/service.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'

export const PATHS = {
  echo: '/abuse.Abuse/Echo',
  wait: '/abuse.Abuse/Wait',
  answer: '/abuse.Abuse/Answer',
  fetch: '/abuse.Abuse/Fetch',
  fetchStream: '/abuse.Abuse/FetchStream',
  refuse: '/abuse.Abuse/Refuse',
  refuseStream: '/abuse.Abuse/RefuseStream',
  stream: '/abuse.Abuse/Stream',
  first: '/abuse.Abuse/First',
  count: '/abuse.Abuse/Count',
  hold: '/abuse.Abuse/Hold',
} as const

const REFUSAL = new GrpcError(STATUS.failedPrecondition, 'refused', { details: Buffer.alloc(2000) })

export interface Handlers {
  readonly running: number
  /** The highest number of handlers that ran at the same time. */
  readonly most: number
  readonly started: number
  /** Releases all waiting handlers, now and in the future. */
  release(): void
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Encodes the request of `Answer`, `Stream`, `Fetch` and `FetchStream`. */
export function wanted(size: number, count = 1): Buffer {
  const request = Buffer.alloc(8)
  request.writeUInt32BE(size, 0)
  request.writeUInt32BE(count, 4)
  return request
}

export function abuseService(): { service: Service; handlers: Handlers } {
  const handlers = { running: 0, most: 0, started: 0, release: () => {} }
  const released = new Promise<void>((resolve) => {
    handlers.release = resolve
  })
  const counting = async <T>(work: () => Promise<T>): Promise<T> => {
    handlers.started++
    handlers.running++
    handlers.most = Math.max(handlers.most, handlers.running)
    try {
      return await work()
    } finally {
      handlers.running--
    }
  }
  const service: Service = {
    name: 'abuse.Abuse',
    methods: {
      Echo: { kind: 'unary', handle: (request) => request },
      /** Ignores cancellation: keeps running after its caller has disconnected. */
      Wait: { kind: 'unary', handle: (request) => counting(() => released.then(() => request)) },
      /** Fails with a long message, one microtask later. */
      Refuse: { kind: 'unary', handle: () => Promise.reject(REFUSAL) },
      RefuseStream: { kind: 'clientStreaming', handle: () => Promise.reject(REFUSAL) },
      /** Returns one message of the requested size. */
      Answer: { kind: 'unary', handle: (request) => Buffer.alloc(Buffer.from(request).readUInt32BE(0)) },
      /** Sends the requested number of messages of one size, as fast as the caller reads them. */
      Stream: {
        kind: 'serverStreaming',
        handle: (request, out, call) =>
          counting(async () => {
            const asked = Buffer.from(request)
            const block = Buffer.alloc(asked.readUInt32BE(0))
            const count = asked.readUInt32BE(4)
            for (let i = 0; i < count && !call.cancelled; i++) if (!out.write(block)) await out.drained()
          }),
      },
      /** Returns one message that is fetched asynchronously first. */
      Fetch: {
        kind: 'unary',
        async handle(request, call) {
          const size = Buffer.from(request).readUInt32BE(0)
          await call.room(size)
          await turn()
          return Buffer.alloc(size)
        },
      },
      /** Sends the requested number of messages, each of which is fetched asynchronously first. */
      FetchStream: {
        kind: 'serverStreaming',
        async handle(request, out, call) {
          const asked = Buffer.from(request)
          for (let left = asked.readUInt32BE(4); left > 0; left--) {
            await call.room(asked.readUInt32BE(0))
            await turn()
            if (!out.write(Buffer.alloc(asked.readUInt32BE(0)))) await out.drained()
          }
        },
      },
      /** Returns the first message and ignores the rest. */
      First: {
        kind: 'clientStreaming',
        handle: (requests) => counting(async () => (await requests.next()) ?? Buffer.alloc(0)),
      },
      Count: {
        kind: 'clientStreaming',
        handle: (requests) =>
          counting(async () => {
            let bytes = 0
            for await (const request of requests) bytes += request.length
            return Buffer.from(String(bytes))
          }),
      },
      /** Reads nothing until it is released. */
      Hold: {
        kind: 'clientStreaming',
        handle: (requests) =>
          counting(async () => {
            await released
            let bytes = 0
            for await (const request of requests) bytes += request.length
            return Buffer.from(String(bytes))
          }),
      },
    },
  }
  return { service, handlers }
}
