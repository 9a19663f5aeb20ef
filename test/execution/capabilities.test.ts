import { expect, test } from 'vitest'
import { getCapabilities } from '../../src/doors/grpc/cache/capabilities.ts'
import { DEFAULT_REAPI_LIMITS } from '../../src/services/instances/cache-limits.ts'
import { fakeCall } from '../../src/testing/grpc-call.ts'
import { memoryInstance } from './execution-grid.ts'
import { decoded, encoded } from './messages.ts'

async function reported(executes?: (instance: string) => boolean, instanceName = '') {
  const method = getCapabilities(memoryInstance, DEFAULT_REAPI_LIMITS, executes)
  const bytes = await method.handle(encoded('GetCapabilitiesRequest', { instanceName }), fakeCall())
  return decoded<{ executionCapabilities?: Record<string, unknown> }>('ServerCapabilities', bytes)
}

test('with execution, GetCapabilities lists digest functions, priorities and node properties', async () => {
  const { executionCapabilities } = await reported(() => true)
  expect(executionCapabilities).toMatchObject({
    execEnabled: true,
    digestFunction: 'SHA256',
    executionPriorityCapabilities: { priorities: [{ minPriority: -100, maxPriority: 100 }] },
    supportedNodeProperties: ['mtime', 'unix_mode'],
  })
  expect(executionCapabilities?.digestFunctions).toContain('BLAKE3')
  expect(executionCapabilities?.digestFunctions).toContain('SHA256')
})

test('GetCapabilities of an instance without execution reports exec_enabled as false', async () => {
  const executes = (instance: string) => instance !== 'cache-only'
  expect((await reported(executes, 'cache-only')).executionCapabilities?.execEnabled).toBeUndefined()
  expect((await reported(executes, 'main')).executionCapabilities?.execEnabled).toBe(true)
})

test('GetCapabilities of a cache-only server has no execution_capabilities', async () => {
  expect((await reported()).executionCapabilities).toBeUndefined()
})
