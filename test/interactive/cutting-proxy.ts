import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Stands before a server, and cuts all that goes through it when it is told to. */
export async function cuttingProxy(port: number): Promise<{ readonly address: string; cut(): void }> {
  const open = new Set<Socket>()
  const proxy = createServer((near) => {
    const pair = [near, connect(port, '127.0.0.1')] as const
    const end = (): void => {
      for (const socket of pair) socket.destroy()
    }
    for (const [i, socket] of pair.entries()) {
      open.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        open.delete(socket)
        end()
      })
      socket.pipe(pair[1 - i] as Socket)
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    proxy.close()
  })
  return { address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`, cut }
}
