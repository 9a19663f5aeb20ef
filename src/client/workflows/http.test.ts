import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createAuthority } from '../../testing/certificates.ts'
import { apiCaller, wholeText } from './http.ts'

const never = new AbortController().signal
const echo: RequestListener = (asked, answer) => {
  let bytes = 0
  asked.on('data', (piece: Buffer) => {
    bytes += piece.length
  })
  asked.on('end', () => answer.end(`${asked.method} ${asked.url} ${bytes}`))
}

async function listening(server: ReturnType<typeof createServer>) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('apiCaller sends requests below the base path of its URL, with a buffer or a stream as body', async () => {
  const server = createServer(echo)
  const caller = apiCaller({ url: new URL(`http://127.0.0.1:${await listening(server)}/base/`) })
  const put = { method: 'PUT', path: '/x' }
  expect(await wholeText(await caller.call({ ...put, body: Buffer.from('abc') }, never))).toBe('PUT /base/x 3')
  const pieces = (async function* () {
    yield Buffer.from('abc')
    yield Buffer.from('de')
  })()
  expect(await wholeText(await caller.call({ ...put, body: pieces }, never))).toBe('PUT /base/x 5')
  caller.close()
  server.close()
})

test('apiCaller trusts only the configured certificate authority', async () => {
  const authority = createAuthority()
  const { key, cert } = authority.server()
  const server = createSecureServer({ key, cert }, echo)
  const url = new URL(`https://127.0.0.1:${await listening(server)}`)
  const [trusting, other] = [apiCaller({ url, tls: { ca: authority.ca } }), apiCaller({ url })]
  const get = { method: 'GET', path: '/x' }
  expect(await wholeText(await trusting.call(get, never))).toBe('GET /x 0')
  await expect(other.call(get, never)).rejects.toThrow(`the server at ${url.origin} does not answer`)
  trusting.close()
  other.close()
  server.close()
})

test('importing the HTTP client does not load undici, which has the WebSocket client', () => {
  const module = new URL('./http.ts', import.meta.url).href
  const script = `const { apiCaller } = await import(${JSON.stringify(module)})
    apiCaller({ url: new URL('http://localhost') })
    console.log(process.moduleLoadList.some((name) => name.includes('undici/undici')))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(said.trim()).toBe('false')
})
