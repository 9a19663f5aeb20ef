import type { Duplex } from 'node:stream'
import type { RawData } from 'ws'
import type { Clock } from '../../../base/clock.ts'
import type { CarefulSocket } from './careful-socket.ts'
import type { SocketLimits } from './socket-limits.ts'
import { TokenBucket } from './token-bucket.ts'
import { UnfinishedMessages } from './unfinished-messages.ts'

/** Looks after WebSockets that are open: how many, whether their peers live, read and keep to a decent pace. */
export interface SocketKeeper {
  /** Why one more from there is too many; undefined when it is not. */
  refusal(address: string): 'address' | 'all' | undefined
  /** With the connection that it goes over. */
  keep(socket: CarefulSocket, address: string, stream: Duplex): void
  /** Says goodbye to all, and to those that come later. */
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
        socket.terminate() // a paused peer cannot answer a ping
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
      const heard = (): void => {
        if (alive.has(socket)) alive.set(socket, true)
      }
      socket.on('pong', heard)
      holdPace(socket, { limits, clock, heard })
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
  readonly heard: () => void
}

/** TCP flow control delays a peer that sends too much. A ping counts too, for it is answered. */
function holdPace(socket: CarefulSocket, { limits, clock, heard }: Pace): void {
  socket.mostUnreadBytes = limits.unreadBytes
  const bucket = new TokenBucket(limits.messages, clock.monotonic())
  let takeBack: (() => void) | undefined
  const took = (bytes: number): void => {
    heard()
    const waitMs = bucket.spend(clock.monotonic(), 1 + Math.floor(bytes / BYTES_A_TOKEN))
    if (waitMs === 0 || socket.isPaused) return
    socket.pause()
    takeBack = clock.after(Math.max(waitMs, SHORTEST_PAUSE_MS), () => {
      heard() // the server had paused the socket
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

/** Not a pause for every message: each costs a timer. */
const SHORTEST_PAUSE_MS = 50
