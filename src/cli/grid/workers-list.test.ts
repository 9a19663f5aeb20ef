import { expect, test } from 'vitest'
import type { WorkerInView } from '../../model/grid-view.ts'
import { workersText } from './workers-list.ts'

const offers = (...languages: string[]): WorkerInView => ({
  worker: 'w1',
  state: 'ONLINE',
  reason: 'it is ready',
  slots: 2,
  tasks: 0,
  registeredAt: 0,
  heardAt: 0,
  properties: [
    { name: 'OSFamily', value: 'Linux' },
    ...languages.flatMap((name) => [
      { name: 'language', value: name },
      { name: 'language', value: `${name}@1.0` },
    ]),
  ],
  cpu: 2,
  memoryBytes: undefined,
  diskBytes: undefined,
  about: {},
})

test('up to three languages are listed by name, more are counted', () => {
  expect(workersText([offers('c', 'go')])).toMatch(/ cpu=2 OSFamily=Linux language=c language=go\n$/)
  expect(workersText([offers('awk', 'c', 'go', 'lua')])).toMatch(/ cpu=2 OSFamily=Linux languages=4\n$/)
})

test('an unhealthy worker is listed with the reason', () => {
  expect(workersText([offers()])).not.toContain('WHY')
  const ill = { ...offers(), worker: 'w2', state: 'DEGRADED', reason: 'its load is 0.99' } as const
  const [head, well, bad] = workersText([offers(), ill]).split('\n')
  expect(head).toMatch(/HEARD +WHY +OFFERS$/)
  expect(well).toMatch(/^w1 +ONLINE .* - +cpu=2/)
  expect(bad).toMatch(/^w2 +DEGRADED .* its load is 0\.99 +cpu=2/)
})
