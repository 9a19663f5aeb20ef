import { expect, test } from 'vitest'
import { getCapabilities } from '../../src/doors/grpc/cache/capabilities.ts'
import { DEFAULT_REAPI_LIMITS } from '../../src/services/instances/cache-limits.ts'
import { fakeCall } from '../../src/testing/grpc-call.ts'
import { memoryInstance } from './execution-grid.ts'
import { decoded, encoded } from './messages.ts'

async function told(executes?: (instance: string) => boolean, instanceName = '') {
  const method = getCapabilities(memoryInstance, DEFAULT_REAPI_LIMITS, executes)
  const bytes = await method.handle(encoded('GetCapabilitiesRequest', { instanceName }), fakeCall())
  return decoded<{ executionCapabilities?: Record<string, unknown> }>('ServerCapabilities', bytes)
}

test('where actions are run, clients are told with which digests, priorities and node properties', async () => {
  const { executionCapabilities } = await told(() => true)
  expect(executionCapabilities).toMatchObject({
    execEnabled: true,
    digestFunction: 'SHA256',
    executionPriorityCapabilities: { priorities: [{ minPriority: -100, maxPriority: 100 }] },
    supportedNodeProperties: ['mtime', 'unix_mode'],
  })
  expect(executionCapabilities?.digestFunctions).toContain('BLAKE3')
  expect(executionCapabilities?.digestFunctions).toContain('SHA256')
})

test('an instance for which nothing is run is told so', async () => {
  const executes = (instance: string) => instance !== 'cache-only'
  expect((await told(executes, 'cache-only')).executionCapabilities?.execEnabled).toBeUndefined()
  expect((await told(executes, 'main')).executionCapabilities?.execEnabled).toBe(true)
})

test('a server that only caches says nothing of execution', async () => {
  expect((await told()).executionCapabilities).toBeUndefined()
})
