import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { onTestFinished } from 'vitest'

/** A forward proxy as named by HTTP_PROXY: it accepts absolute URLs and CONNECT. */
export async function askedProxy(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const proxy = createServer((near, answer) => {
    asked.push(`${near.method} ${near.url}`)
    const far = request(new URL(near.url ?? ''), { method: near.method, headers: near.headers }, (reported) => {
      answer.writeHead(reported.statusCode ?? 502, reported.headers)
      reported.pipe(answer)
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
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked }
}
