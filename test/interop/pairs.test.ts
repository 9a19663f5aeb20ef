import { describe } from 'vitest'
import { interopContract } from './contract.ts'
import type { InteropServer } from './conversation.ts'
import { grpcJsClient } from './grpc-js-client.ts'
import { grpcJsServer } from './grpc-js-server.ts'
import { type Startable, socketPlace } from './started.ts'
import { windlassClient } from './windlass-client.ts'
import { windlassServer } from './windlass-server.ts'

describe('a grpc-js client and our server', () => {
  interopContract(async () => {
    const server = await windlassServer()
    return { server, client: grpcJsClient(server.address) }
  })
})

describe('our client and a grpc-js server', () => {
  interopContract(async () => {
    const server = await grpcJsServer()
    return { server, client: windlassClient(server.address) }
  })
})

describe('our client and our server', () => {
  interopContract(async () => {
    const server = await windlassServer()
    return { server, client: windlassClient(server.address) }
  })
})

describe('a Unix socket', () => {
  describe('a grpc-js client and our server', () => {
    interopContract(async () => {
      const place = socketPlace()
      const server = closingAfter(place, await windlassServer({ address: { path: place.path } }))
      return { server, client: grpcJsClient(server.address) }
    })
  })

  describe('our client and a grpc-js server', () => {
    interopContract(async () => {
      const place = socketPlace()
      const server = closingAfter(place, await grpcJsServer({ address: { path: place.path } }))
      return { server, client: windlassClient(server.address) }
    })
  })
})

const closingAfter = (place: Startable, server: InteropServer): InteropServer => ({
  ...server,
  async close() {
    await server.close()
    await place.close()
  },
})
