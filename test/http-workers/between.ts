/** What stands between a worker and its server in real networks. */
import { createServer as createHttpServer, request } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Hands on bytes, and cuts all connections when told to. */
export async function cuttingProxy(port: number): Promise<{ readonly url: string; cut(): void }> {
  const open = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  const url = await listening(proxy)
  onTestFinished(cut)
  return { url, cut }
}

/** A proxy as HTTP_PROXY names it: it is asked for whole addresses, or for a tunnel to a host. */
export async function askedProxy(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const proxy = createHttpServer((near, answer) => {
    asked.push(`${near.method} ${near.url}`)
    const far = request(new URL(near.url ?? ''), { method: near.method, headers: near.headers }, (told) => {
      answer.writeHead(told.statusCode ?? 502, told.headers)
      told.pipe(answer)
    })
    far.on('error', () => answer.destroy())
    answer.on('close', () => far.destroy())
    near.pipe(far)
  })
  proxy.on('connect', ({ url }, near, head) => {
    asked.push(`CONNECT ${url}`)
    const [host, port] = (url ?? '').split(':')
    const far = connect(Number(port), host)
    far.on('connect', () => near.write('HTTP/1.1 200 OK\r\n\r\n'))
    far.write(head)
    far.pipe(near)
    near.pipe(far)
    for (const socket of [near, far]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
  })
  return { url: await listening(proxy), asked }
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
