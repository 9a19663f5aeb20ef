import { expect, test } from 'vitest'
import { STATUS } from '../../src/grpc/status.ts'
import { describeWith } from '../../src/testing/require.ts'
import { interopContract } from './contract.ts'
import { SERVICE } from './conversation.ts'
import { pythonClient } from './python-client.ts'
import { PYTHON } from './python-script.ts'
import { pythonServer } from './python-server.ts'
import { failure } from './requests.ts'
import { windlassClient } from './windlass-client.ts'
import { windlassServer } from './windlass-server.ts'

describeWith(PYTHON, 'a client on the C core and our server', () => {
  interopContract(
    async () => {
      const server = await windlassServer()
      return { server, client: pythonClient(server.address) }
    },
    { crowd: 100 }, // its client uses a thread for each call
  )

  // The C core accepts 8 KiB of headers by default, and each of these characters takes nine bytes on the wire.
  test('a failed call with a long Unicode message keeps its status, and the message is truncated', async () => {
    const server = await windlassServer()
    const client = pythonClient(server.address, { maxMetadataBytes: 8192 })
    try {
      const messages = [failure(STATUS.notFound, '字'.repeat(5000))]
      const outcome = await client.converse({ method: `/${SERVICE}/Fail`, kind: 'unary', messages })
      expect(outcome).toMatchObject({ code: STATUS.notFound, message: /^字{100,}…?$/ })
    } finally {
      await client.close()
      await server.close()
    }
  })
})

describeWith(PYTHON, 'our client and a server on the C core', () => {
  interopContract(async () => {
    const server = await pythonServer()
    return { server, client: windlassClient(server.address) }
  })
})
