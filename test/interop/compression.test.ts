import { compressionAlgorithms } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { bareClient, bareServer } from './bare-http2.ts'
import { SERVICE } from './conversation.ts'
import { grpcJsClient } from './grpc-js-client.ts'
import { payload } from './requests.ts'
import { startedHere } from './started.ts'
import { timing, windlassServer } from './windlass-server.ts'

const started = startedHere()

test('a gzip request is refused with UNIMPLEMENTED, and the message names identity', async () => {
  const { address } = await started(windlassServer())
  const options = { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip }
  const { converse } = await started(grpcJsClient(address, undefined, options))
  const outcome = await converse({ method: `/${SERVICE}/Unary`, kind: 'unary', messages: [payload(1000)] })
  expect(outcome).toMatchObject({ code: STATUS.unimplemented, message: /compressed.*not supported.*identity/ })
})

test('a refused encoding is answered with grpc-accept-encoding', async () => {
  const { ask } = await started(bareClient((await started(windlassServer())).address))
  const compressed = Buffer.of(1, 0, 0, 0, 1, 7)
  const { headers } = await ask({ ':path': `/${SERVICE}/Unary`, 'grpc-encoding': 'gzip' }, compressed)
  expect(headers).toMatchObject({ 'grpc-status': String(STATUS.unimplemented), 'grpc-accept-encoding': 'identity' })
})

test('a compressed response that the client did not accept is INTERNAL', async () => {
  const { address } = await started(
    bareServer((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' })
      stream.end(Buffer.of(1, 0, 0, 0, 1, 7))
    }),
  )
  const channel = await started(createChannel({ address, timing }))
  await expect(channel.unary('/a/b', payload(1))).rejects.toMatchObject({ code: STATUS.internal })
})
