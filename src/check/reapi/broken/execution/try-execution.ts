import type { Clock } from '../../../../base/clock.ts'
import { connect } from '../../../../client/connection/connect.ts'
import type { Channel } from '../../../../grpc/client/channel.ts'
import type { Platform_Property } from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { checkReapi, type ReapiReport } from '../../check-reapi.ts'
import type { ReapiBehaviour } from '../../table/behaviours.ts'
import type { Detour } from './detour.ts'
import { upstreamServer } from './proxy.ts'
import { serveProxy } from './serve-proxy.ts'

export interface ExecutionTrial {
  readonly behaviours: readonly ReapiBehaviour[]
  readonly clock: Clock
  /** The address of the correct server. */
  readonly behind: Channel
  readonly seed: string
  /** Undefined for a proxy without a defect. */
  readonly mistake?: Detour
  readonly deadlineMs?: number
  readonly platform?: readonly Platform_Property[]
}

/** Long, for machines with much to do: nothing here waits for it. */
const DEADLINE_MS = 20_000

/** Runs checks against a proxy with at most one defect before a correct server. */
export async function tryExecution(trial: ExecutionTrial): Promise<ReapiReport> {
  const { behaviours, clock, behind, seed, mistake, deadlineMs = DEADLINE_MS, platform = [] } = trial
  const right = upstreamServer(behind, clock)
  const methods = { ...right.methods, ...mistake?.(right) }
  const { server, address } = await serveProxy(methods, behind, { now: clock.monotonic, after: clock.after })
  const channel = connect({ text: 'the server in front', address, secure: false }, { clock })
  try {
    return await checkReapi({ channel, instance: '', behaviours, seed, platform, clock, deadlineMs, atOnce: 4 })
  } finally {
    channel.close()
    server.close()
  }
}
