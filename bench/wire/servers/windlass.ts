/** The gRPC server as Windlass uses it: with metrics, limits, deadlines and logs. */

import { logged } from '../../../src/app/metrics/grpc.ts'
import { createMetrics } from '../../../src/app/metrics/metrics.ts'
import { systemClock } from '../../../src/app/process/clock.ts'
import { createLogger } from '../../../src/app/process/logger.ts'
import { DEFAULT_LIMITS } from '../../../src/grpc/http2/limits.ts'
import { createServer } from '../../../src/grpc/server/server.ts'
import type { Outgoing, Service } from '../../../src/grpc/service.ts'
import { blocks, decodeWanted, PONG, patterned, reportTo, SERVICE } from './echo.ts'

const block = blocks(patterned)

async function stream(request: Uint8Array, out: Outgoing): Promise<void> {
  const { size, count } = decodeWanted(request)
  const message = block(size)
  for (let sent = 0; sent < count; sent++) if (!out.write(message)) await out.drained()
}

const echo: Service = {
  name: SERVICE,
  methods: {
    Small: { kind: 'unary', handle: () => PONG },
    Stream: { kind: 'serverStreaming', handle: stream },
  },
}

const log = await createLogger({ level: 'info', format: 'json' }, false)
const server = createServer({
  services: [echo],
  timing: { now: systemClock.monotonic, after: systemClock.after },
  observer: logged(createMetrics().observer, log),
  limits: DEFAULT_LIMITS,
})
const bound = server.listen({ host: '127.0.0.1', port: 0 })
reportTo(bound.then((address) => ('port' in address ? address.port : 0)))
