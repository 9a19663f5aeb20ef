import type { Duplex } from 'node:stream'
import type { RawData } from 'ws'
import type { Clock } from '../../../base/clock.ts'
import { TokenBucket } from './callers.ts'
import type { CarefulSocket } from './careful-socket.ts'
import type { SocketLimits } from './socket-limits.ts'
import { UnfinishedMessages } from './unfinished-messages.ts'

/** Limits open WebSockets: their number, dead peers, peers that do not read, and the rate of messages. */
export interface SocketKeeper {
  /** The limit that one more socket of this address would exceed; undefined for none. */
  refusal(address: string): 'address' | 'all' | undefined
  /** `stream` is the connection of the socket. */
  keep(socket: CarefulSocket, address: string, stream: Duplex): void
  /** Closes all sockets, and those that open later. */
  close(): void
}

const GOING_AWAY = 1001

export function socketKeeper(limits: SocketLimits, clock: Clock): SocketKeeper {
  const alive = new Map<CarefulSocket, boolean>()
  const perAddress = new Map<string, number>()
  const unfinished = new UnfinishedMessages(limits.unfinishedBytes)
  let takeBack: (() => void) | undefined
  let isClosing = false

  const count = (address: string, change: number): void => {
    const sockets = (perAddress.get(address) ?? 0) + change
    if (sockets === 0) perAddress.delete(address)
    else perAddress.set(address, sockets)
  }

  function sweep(): void {
    for (const [socket, isAlive] of alive) {
      if (!isAlive && !socket.isPaused)
        socket.terminate() // a paused socket does not receive pongs
      else {
        alive.set(socket, false)
        socket.ping()
      }
    }
    takeBack = alive.size === 0 ? undefined : clock.after(limits.pingMs, sweep)
  }

  return {
    refusal(address) {
      if (alive.size >= limits.connections) return 'all'
      return (perAddress.get(address) ?? 0) >= limits.connectionsPerAddress ? 'address' : undefined
    },
    keep(socket, address, stream) {
      alive.set(socket, true)
      unfinished.watch(socket, stream)
      count(address, 1)
      socket.once('close', () => {
        alive.delete(socket)
        count(address, -1)
        if (alive.size > 0) return
        takeBack?.()
        takeBack = undefined
      })
      const sawPeer = (): void => {
        if (alive.has(socket)) alive.set(socket, true)
      }
      socket.on('pong', sawPeer)
      holdPace(socket, { limits, clock, sawPeer })
      takeBack ??= clock.after(limits.pingMs, sweep)
      if (isClosing) socket.close(GOING_AWAY)
    },
    close() {
      isClosing = true
      for (const socket of alive.keys()) socket.close(GOING_AWAY)
    },
  }
}

interface Pace {
  readonly limits: SocketLimits
  readonly clock: Clock
  readonly sawPeer: () => void
}

/** Delays a peer that sends too much, by TCP flow control. A ping counts too, because the server answers it. */
function holdPace(socket: CarefulSocket, { limits, clock, sawPeer }: Pace): void {
  socket.mostUnreadBytes = limits.unreadBytes
  const bucket = new TokenBucket(limits.messages, clock.monotonic())
  let takeBack: (() => void) | undefined
  const took = (bytes: number): void => {
    sawPeer()
    const waitMs = bucket.spend(clock.monotonic(), 1 + Math.floor(bytes / BYTES_A_TOKEN))
    if (waitMs === 0 || socket.isPaused) return
    socket.pause()
    takeBack = clock.after(Math.max(waitMs, SHORTEST_PAUSE_MS), () => {
      sawPeer() // the server had paused the socket
      socket.resume()
    })
  }
  socket.on('message', (data: RawData) => took(sizeOf(data)))
  socket.on('ping', () => {
    took(0)
    socket.cutIfUnread()
  })
  socket.once('close', () => takeBack?.())
}

const BYTES_A_TOKEN = 4096

const sizeOf = (data: RawData): number =>
  Array.isArray(data) ? data.reduce((sum, { length }) => sum + length, 0) : data.byteLength

/** Shorter pauses are skipped, because each costs a timer. */
const SHORTEST_PAUSE_MS = 50
