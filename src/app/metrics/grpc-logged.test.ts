import { expect, test } from 'vitest'
import { type Log, silentLog } from '../../base/log.ts'
import type { Observer } from '../../grpc/observer.ts'
import { logged } from './grpc.ts'

function heard() {
  const lines: string[] = []
  const calls: string[] = []
  const say = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`)
  const log: Log = { ...silentLog, debug: say('debug'), warn: say('warn'), error: say('error') }
  const inner: Observer = {
    method: () => ({ started: () => {}, finished: () => {} }),
    connectionOpened: () => void calls.push('opened'),
    connectionClosed: () => void calls.push('closed'),
    handlerFailed: () => void calls.push('failed'),
  }
  return { lines, calls, observer: logged(inner, log) }
}

test('all events are passed on to the inner observer', () => {
  const { calls, observer } = heard()
  observer.connectionOpened()
  observer.connectionClosed({ code: 0, reason: '' })
  observer.handlerFailed('/a/b', new Error('x'))
  expect(calls).toEqual(['opened', 'closed', 'failed'])
})

test('failed handlers and abuse are logged as error and warning, and an orderly close is not logged', () => {
  const { lines, observer } = heard()
  observer.connectionOpened()
  observer.connectionClosed({ code: 0, reason: '' })
  observer.connectionClosed({ code: 1, reason: 'bad frame' })
  observer.connectionClosed({ code: 11, reason: 'too many pings', flood: 'ping' })
  observer.handlerFailed('/a/b', new Error('x'))
  expect(lines).toEqual([
    'debug gRPC connection closed with an error',
    'warn gRPC connection closed for abuse',
    'error gRPC handler failed',
  ])
})
