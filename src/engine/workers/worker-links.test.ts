import { expect, test } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { newLink, workerLinks } from './worker-links.ts'
import type { WorkerSession } from './worker-session.ts'

function linkOf(worker: string, close: (what: string) => void = () => {}) {
  const session: WorkerSession = { lease() {}, begin() {}, stop() {}, order() {}, close }
  return newLink({ worker, slots: 1, properties: [] }, session, 0)
}

test('a link under a known name replaces the earlier link and returns it', () => {
  const links = workerLinks(silentLog)
  const [first, second] = [linkOf('w'), linkOf('w')]
  expect([links.add(first), links.add(second), links.find('w'), links.size]).toEqual([undefined, first, second, 1])
  links.drop(first)
  expect(links.find('w')).toBe(second)
})

test('closing a link answers its polls with no leases and closes its session, also when a poll throws', () => {
  const links = workerLinks(silentLog)
  const heard: unknown[] = []
  const link = linkOf('w', (what) => void heard.push(what))
  const failing = { tasks: 1, answer: () => expect.unreachable() }
  link.polls = [failing, { tasks: 1, answer: (leases) => void heard.push(leases) }]
  links.add(link)
  links.close('the server is stopping')
  expect([heard, links.size]).toEqual([[[], 'the server is stopping'], 0])
})
