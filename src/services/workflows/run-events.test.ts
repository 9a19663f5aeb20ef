import { expect, test } from 'vitest'
import { RunEvents } from './run-events.ts'

const counts = { waiting: 0, running: 0, done: 0, cached: 0, failed: 0 }
const running = { kind: 'submission', state: 'running' } as const
const completed = { kind: 'submission', state: 'completed' } as const

test('a new listener must read the current state first, then gets each event', () => {
  const events = new RunEvents('1')
  events.add(running, counts)
  let woken = 0
  const listener = events.listen(undefined, () => {
    woken += 1
  })
  expect(listener.next()).toBe('behind')
  expect(listener.next()).toBeUndefined()
  events.add(completed, counts)
  expect(woken).toBe(1)
  expect(listener.next()).toMatchObject({ id: '1-1', event: completed })
  expect(listener.isEnded()).toBe(false)
  events.close()
  expect(listener.isEnded()).toBe(true)
})

test('a listener with a last event id gets the events that it missed', () => {
  const events = new RunEvents('1')
  for (let at = 0; at < 3; at += 1) events.add(running, counts)
  const listener = events.listen('1-0', () => {})
  expect([listener.next(), listener.next(), listener.next()]).toMatchObject([{ id: '1-1' }, { id: '1-2' }, undefined])
})

test.each(['2-0', '1-99', '1-x', '', `${'9'.repeat(300)}`])(
  'a listener with the last event id %j must read the current state first',
  (last) => {
    const events = new RunEvents('1')
    events.add(running, counts)
    expect(events.listen(last, () => {}).next()).toBe('behind')
  },
)

test('a listener that falls 6,000 events behind must read the current state again', () => {
  const events = new RunEvents('1')
  events.add(running, counts)
  const listener = events.listen('1-0', () => {})
  for (let at = 0; at < 6000; at += 1) events.add(running, counts)
  expect(listener.next()).toBe('behind')
  expect(listener.next()).toBeUndefined()
})
