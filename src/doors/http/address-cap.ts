import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from './caller-address.ts'

/** Closes connections beyond so many from one address, before anything is read; proxies have those of everybody. */
export function capAddresses(server: Server, most: number, isProxy: (address: string) => boolean): void {
  const open = new Map<string, number>()
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress && plainAddress(socket.remoteAddress)
    if (address === undefined || isProxy(address)) return // by a socket file, or gone already
    const whose = networkOf(address)
    const count = (open.get(whose) ?? 0) + 1
    if (count > most) {
      socket.destroy()
      return
    }
    open.set(whose, count)
    socket.once('close', () => {
      const left = (open.get(whose) ?? 1) - 1
      if (left === 0) open.delete(whose)
      else open.set(whose, left)
    })
  })
}
