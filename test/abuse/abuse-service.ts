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
  /** The most that ever ran at once. */
  readonly most: number
  readonly started: number
  /** Lets everyone go who waits, now and from now on. */
  letGo(): void
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What `Answer`, `Stream` and their kin are asked for. */
export function wanted(size: number, count = 1): Buffer {
  const request = Buffer.alloc(8)
  request.writeUInt32BE(size, 0)
  request.writeUInt32BE(count, 4)
  return request
}

export function abuseService(): { service: Service; handlers: Handlers } {
  const handlers = { running: 0, most: 0, started: 0, letGo: () => {} }
  const released = new Promise<void>((resolve) => {
    handlers.letGo = resolve
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
      /** Stubborn: goes on even when its caller is gone. */
      Wait: { kind: 'unary', handle: (request) => counting(() => released.then(() => request)) },
      /** At length, and a little later. */
      Refuse: { kind: 'unary', handle: () => Promise.reject(REFUSAL) },
      RefuseStream: { kind: 'clientStreaming', handle: () => Promise.reject(REFUSAL) },
      /** One answer of the size asked for. */
      Answer: { kind: 'unary', handle: (request) => Buffer.alloc(Buffer.from(request).readUInt32BE(0)) },
      /** As many messages of a size as are asked for, as fast as the caller takes them. */
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
      /** One answer that must be fetched first, which takes a while. */
      Fetch: {
        kind: 'unary',
        async handle(request, call) {
          const size = Buffer.from(request).readUInt32BE(0)
          await call.room(size)
          await turn()
          return Buffer.alloc(size)
        },
      },
      /** As many messages as are asked for, each of which must be fetched. */
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
      /** Answers the first message and does not care for the rest. */
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
      /** Takes nothing until it is let go. */
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
