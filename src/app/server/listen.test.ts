import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { type BindAddress, formatAddress } from '../config/bind-address.ts'
import { listenAt } from './listen.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-listen-'))
afterAll(() => rmSync(folder, { recursive: true }))

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

async function listen(address: BindAddress): Promise<BindAddress> {
  const server = createServer((socket) => socket.destroy()).listen('path' in address ? address.path : address)
  await once(server, 'listening')
  open.push(server)
  const bound = server.address()
  return bound === null || typeof bound === 'string' ? address : { host: bound.address, port: bound.port }
}

test('port 0 takes a free port', async () => {
  expect(await listenAt('127.0.0.1:0', '--grpc', listen)).toMatchObject({ host: '127.0.0.1', port: expect.any(Number) })
})

test('an address in use is unavailable, with the flag that chooses another', async () => {
  const taken = formatAddress(await listenAt('127.0.0.1:0', '--grpc', listen))
  await expect(listenAt(taken, '--http', listen)).rejects.toMatchObject({
    fault: {
      kind: 'unavailable',
      what: `cannot listen on ${taken}: another program is listening there; choose another address with --http (port 0 takes a free one)`,
    },
  })
})

test('an address that this machine does not have is reported so', async () => {
  await expect(listenAt('192.0.2.1:0', '--grpc', listen)).rejects.toThrow('this machine has no such address')
})

test('a stale socket file of a killed server is replaced', async () => {
  const path = join(folder, 'stale.sock')
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  expect(() => execFileSync(process.execPath, ['-e', script])).toThrow()
  expect(existsSync(path)).toBe(true)
  expect(await listenAt(`unix:${path}`, '--grpc', listen)).toEqual({ path })
})

test('a socket file on which another program listens is not replaced', async () => {
  const path = join(folder, 'live.sock')
  await listenAt(`unix:${path}`, '--grpc', listen)
  await expect(listenAt(`unix:${path}`, '--grpc', listen)).rejects.toThrow(
    `another program is listening on unix:${path}`,
  )
})

test('a file that is no socket is not replaced', async () => {
  const path = join(folder, 'notes.txt')
  writeFileSync(path, 'mine')
  await expect(listenAt(`unix:${path}`, '--grpc', listen)).rejects.toThrow(`${path} exists and is not a socket`)
  expect(existsSync(path)).toBe(true)
})
