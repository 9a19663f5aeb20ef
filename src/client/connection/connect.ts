import type { Clock } from '../../base/clock.ts'
import { type Channel, type ClientTls, createChannel } from '../../grpc/client/channel.ts'
import { grpcElsewhere } from './server-addresses.ts'
import type { Target } from './target.ts'

export interface ConnectOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  /** For targets that are secure. */
  readonly tls?: ClientTls
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A channel to a target; the connection is made with the first call. */
export const connect = (target: Target, { clock, tls = {}, headers = {} }: ConnectOptions): Channel =>
  createChannel({
    address: target.address,
    elsewhere: grpcElsewhere(target, { clock, tls }),
    timing: { now: clock.monotonic, after: clock.after },
    metadata: headers,
    ...(target.secure ? { tls } : {}),
  })
