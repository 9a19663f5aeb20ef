import { expect, test } from 'vitest'
import { settings } from '../../testing/http2-frames.ts'
import { defaultPeerSettings, type PeerSettings, readSettings } from './settings.ts'
import { type ConnectionFault, ERROR, SETTING } from './wire-format.ts'

function read(...entries: [number, number][]): PeerSettings {
  const peer = defaultPeerSettings()
  const frame = settings(...entries)
  readSettings(peer, frame, 9, frame.length)
  return peer
}

const codeOf = (...entries: [number, number][]): number | undefined => {
  try {
    read(...entries)
    return undefined
  } catch (error) {
    return (error as ConnectionFault).code
  }
}

test('an empty SETTINGS frame keeps the defaults of HTTP/2', () => {
  expect(read()).toEqual(defaultPeerSettings())
  expect(read()).toMatchObject({ headerTableSize: 4096, initialWindowSize: 65_535, maxFrameSize: 16_384 })
})

test('each setting is stored in its field', () => {
  const peer = read(
    [SETTING.headerTableSize, 100],
    [SETTING.enablePush, 1],
    [SETTING.maxConcurrentStreams, 7],
    [SETTING.initialWindowSize, 0],
    [SETTING.maxFrameSize, 16_777_215],
    [SETTING.maxHeaderListSize, 0xffffffff],
  )
  expect(peer).toEqual({
    headerTableSize: 100,
    maxConcurrentStreams: 7,
    initialWindowSize: 0,
    maxFrameSize: 16_777_215,
    maxHeaderListSize: 0xffffffff,
  })
})

test('the last value of a repeated setting counts', () => {
  expect(read([SETTING.initialWindowSize, 5], [SETTING.initialWindowSize, 6]).initialWindowSize).toBe(6)
})

test('unknown settings are ignored', () => {
  expect(read([0, 1], [7, 1], [0xffff, 0xffffffff])).toEqual(defaultPeerSettings())
})

test.each([
  ['a push that is neither on nor off', SETTING.enablePush, 2, ERROR.protocol],
  ['a window larger than any', SETTING.initialWindowSize, 0x80000000, ERROR.flowControl],
  ['frames smaller than everyone takes', SETTING.maxFrameSize, 16_383, ERROR.protocol],
  ['frames larger than their length can say', SETTING.maxFrameSize, 16_777_216, ERROR.protocol],
])('a setting with %s is a connection error', (_name, id, value, code) => {
  expect(codeOf([id, value])).toBe(code)
})

test('the minimum and maximum values of RFC 9113 are accepted', () => {
  expect(codeOf([SETTING.initialWindowSize, 0x7fffffff], [SETTING.maxFrameSize, 16_384], [SETTING.enablePush, 0])).toBe(
    undefined,
  )
})
