import { MAX_WINDOW, SETTING } from '../../src/grpc/http2/wire-format.ts'
import { windowUpdate } from '../../src/testing/http2-frames.ts'
import type { RawHttp2 } from '../../src/testing/raw-http2.ts'
import type { WatchedServer } from './abused-server.ts'

export const MiB = 1 << 20
/** The bytes that the server may buffer for a peer that does not read. */
export const STREAM_CAP = 1 * MiB
export const CONNECTION_CAP = 4 * MiB

/** Opens all flow-control windows: only the network and the server's own caps limit the bytes sent. */
export async function greedy(server: WatchedServer): Promise<RawHttp2> {
  const client = await server.connect({ settings: [[SETTING.initialWindowSize, MAX_WINDOW]] })
  client.send(windowUpdate(0, MAX_WINDOW - 65_535))
  await client.roundTrip()
  return client
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Returns the most bytes that the server held for its only connection until the work was done. */
export async function mostHeldWhile(server: WatchedServer, work: Promise<void>): Promise<number> {
  let most = 0
  let isDone = false
  const finished = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    most = Math.max(most, heldFor(server))
    await turn()
  }
  await finished
  return most
}

function heldFor({ connections }: WatchedServer): number {
  const { http2 } = connections[0] as WatchedServer['connections'][number]
  return http2.turns.pendingBytes + http2.outbox.backlog
}

/** Waits until no byte moves any more: the kernel's buffers are full, and client and server both wait. */
export async function untilStuck(server: WatchedServer): Promise<void> {
  let before = -1
  for (let same = 0; same < 50; ) {
    // One turn of the event loop is not enough: fetches by other threads take longer.
    await new Promise((resolve) => setTimeout(resolve, 2))
    const now = heldFor(server)
    same = now === before ? same + 1 : 0
    before = now
  }
}
