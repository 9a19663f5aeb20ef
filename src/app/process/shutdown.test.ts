import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { runUntilSignal } from './shutdown.ts'

function playedProcess() {
  const emitter = new EventEmitter()
  const exits: number[] = []
  const signals = Object.assign(emitter, { exit: (code: number) => void exits.push(code) })
  const clock = manualClock()
  return { signals, clock, log: silentLog, exits, send: (name: string) => emitter.emit(name, name) }
}

const running = (stop: () => Promise<void>) => async () => ({ stop })

test.each(['SIGTERM', 'SIGINT'])('%s stops the server in order, and the process ends by itself', async (signal) => {
  const played = playedProcess()
  let stops = 0
  const ended = runUntilSignal(
    running(async () => void stops++),
    played,
  )
  await Promise.resolve()
  expect(stops).toBe(0)
  played.send(signal)
  await ended
  expect([stops, played.exits]).toEqual([1, []])
  expect(played.signals.eventNames()).toEqual([])
})

test('a signal during the start stops the server after the start', async () => {
  const played = playedProcess()
  const story: string[] = []
  const start = async () => {
    played.send('SIGTERM')
    story.push('started')
    return { stop: async () => void story.push('stopped') }
  }
  await runUntilSignal(start, played)
  expect([story, played.exits]).toEqual([['started', 'stopped'], []])
})

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
])('a second signal, %s, ends the process at once with %i', async (signal, code) => {
  const played = playedProcess()
  const { promise: drained, resolve: finish } = Promise.withResolvers<void>()
  const ended = runUntilSignal(
    running(() => drained),
    played,
  )
  played.send('SIGTERM')
  played.clock.advance(51)
  expect(played.exits).toEqual([])
  played.send(signal)
  expect(played.exits).toEqual([code])
  finish()
  await ended
})

test('a signal repeated within 50 ms does not count as a second one', async () => {
  const played = playedProcess()
  const { promise: drained, resolve: finish } = Promise.withResolvers<void>()
  const ended = runUntilSignal(
    running(() => drained),
    played,
  )
  played.send('SIGINT')
  played.clock.advance(5)
  played.send('SIGINT')
  finish()
  await ended
  expect(played.exits).toEqual([])
})

test('a failed start or stop is thrown, and the signal handlers are removed', async () => {
  const played = playedProcess()
  await expect(runUntilSignal(() => Promise.reject(new Error('taken')), played)).rejects.toThrow('taken')
  const ended = runUntilSignal(
    running(() => Promise.reject(new Error('stuck'))),
    played,
  )
  played.send('SIGINT')
  await expect(ended).rejects.toThrow('stuck')
  expect(played.signals.eventNames()).toEqual([])
})
