import { expect, test } from 'vitest'
import type { SocketHeartbeat } from './request.ts'
import { describeSocketWorker, pulseOf, sameOffer, workerOfferOf } from './worker-offer.ts'

const asIs = (name: string): string => name
const heartbeat = (more: Partial<SocketHeartbeat> = {}): SocketHeartbeat => ({
  type: 'heartbeat',
  clientId: 'w',
  load: { currentTasks: 0, maxConcurrent: 4, cpuUsage: 0.2, memoryUsage: 0.3 },
  capabilities: ['Python'],
  ...more,
})
const load = (currentTasks: number, cpuUsage: number, memoryUsage = 0) =>
  heartbeat({ load: { currentTasks, maxConcurrent: 4, cpuUsage, memoryUsage } })

test('a worker offers snippets in its languages, and nothing else', () => {
  expect(describeSocketWorker('w', workerOfferOf(heartbeat(), asIs), [])).toMatchObject({
    slots: 4,
    properties: [
      { name: 'runs', value: 'snippet' },
      { name: 'runs-without-image', value: 'yes' },
      { name: 'language', value: 'python' },
    ],
  })
})

test('a field absent from a heartbeat keeps its earlier value', () => {
  const first = workerOfferOf(heartbeat(), asIs)
  expect(sameOffer(first, workerOfferOf({ type: 'heartbeat', clientId: 'w', load: undefined }, asIs, first))).toBe(true)
  expect(sameOffer(first, workerOfferOf(heartbeat({ capabilities: [] }), asIs, first))).toBe(false)
})

test.each([
  [0, 1],
  [0.5, 1],
  [3.9, 3],
  [1e9, 1024],
])('maxConcurrent %d gives %i slots', (maxConcurrent, slots) => {
  expect(workerOfferOf(heartbeat({ load: { maxConcurrent } }), asIs).slots).toBe(slots)
})

interface LoadCase {
  readonly message: SocketHeartbeat
  readonly given: number
  readonly foreign?: number
  readonly expected: number
}

test.each<[string, LoadCase]>([
  ['a machine that others use', { message: load(0, 0.99), given: 0, expected: 0.99 }],
  ['a machine that is full of our tasks', { message: load(4, 1), given: 4, expected: 0 }],
  ['a machine that one of our tasks may fill alone', { message: load(1, 0.99), given: 1, expected: 0 }],
  [
    'a machine that others filled before our task came',
    { message: load(1, 0.99), given: 1, foreign: 1, expected: 0.99 },
  ],
  ['a machine that others have left', { message: load(1, 0.2), given: 1, foreign: 1, expected: 0.2 }],
  ['memory that is full, whoever fills it', { message: load(4, 1, 0.97), given: 4, expected: 0.97 }],
  ['slots that others have taken', { message: load(4, 0), given: 1, expected: 0.75 }],
  ['figures beyond all measure', { message: load(4, 900), given: 0, expected: 1 }],
  ['no figures at all', { message: heartbeat({ load: undefined }), given: 2, expected: 0 }],
])('the load is computed for %s', (_, { message, given, foreign = 0, expected }: LoadCase) => {
  expect(pulseOf(message, { given, foreign }).load).toBeCloseTo(expected)
})
