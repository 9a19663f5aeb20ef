import { describe, expect, test } from 'vitest'
import { Action, Command } from './gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { actionOrderFromProto, commandFromProto } from './worker-command.ts'

const DIGEST = { hash: 'a'.repeat(64), sizeBytes: 5 }
const digest = { fn: 'sha256', hash: DIGEST.hash, size: 5 } as const

const action = (parts: Partial<Action> = {}) =>
  Action.encode({ ...Action.fromPartial({}), commandDigest: DIGEST, inputRootDigest: DIGEST, ...parts }).finish()
const command = (parts: Partial<Command> = {}) =>
  Command.encode({ ...Command.fromPartial({}), arguments: ['true'], ...parts }).finish()

const lowered = (actionParts: Partial<Action>, commandParts: Partial<Command>) =>
  commandFromProto(command(commandParts), actionOrderFromProto(action(actionParts), 'sha256'))

describe('an action and its command become a command of ours', () => {
  test('with everything that they say', () => {
    expect(
      lowered(
        { timeout: { seconds: 90, nanos: 5e8 }, doNotCache: true },
        {
          arguments: ['cc', '-c', 'a.c'],
          environmentVariables: [{ name: 'PATH', value: '/bin' }],
          outputPaths: ['a.o', 'out'],
          outputFiles: ['ignored'],
          workingDirectory: 'src',
          outputNodeProperties: ['mtime', 'UnixMode', 'colour'],
          outputDirectoryFormat: 2,
        },
      ),
    ).toEqual({
      argv: ['cc', '-c', 'a.c'],
      env: [{ name: 'PATH', value: '/bin' }],
      workingDirectory: 'src',
      inputs: { root: digest, files: [], uris: [] },
      outputs: {
        paths: { kind: 'any', paths: ['a.o', 'out'] },
        globs: [],
        directoryFormat: 'both',
        properties: ['mtime', 'unixMode'],
      },
      platform: [],
      image: undefined,
      limits: { wallMs: 90_500 },
      network: false,
      cacheable: false,
    })
  })

  test('older clients say what each output must be', () => {
    const { outputs, limits } = lowered({}, { outputFiles: ['a.o'], outputDirectories: ['out'] })
    expect(outputs.paths).toEqual({ kind: 'typed', files: ['a.o'], directories: ['out'] })
    expect(limits).toEqual({})
  })

  test('the platform of the action goes before that of the command, an empty one too', () => {
    const linux = { properties: [{ name: 'OSFamily', value: 'Linux' }] }
    const mac = { properties: [{ name: 'OSFamily', value: 'Mac' }] }
    expect(lowered({ platform: linux }, { platform: mac }).platform).toEqual(linux.properties)
    expect(lowered({ platform: { properties: [] } }, { platform: mac }).platform).toEqual([])
    expect(lowered({}, { platform: mac }).platform).toEqual(mac.properties)
  })

  test('image and network are properties', () => {
    const properties = [
      { name: 'container-image', value: 'docker://alpine' },
      { name: 'dockerNetwork', value: 'standard' },
    ]
    expect(lowered({ platform: { properties } }, {})).toMatchObject({ image: 'docker://alpine', network: true })
  })
})

test.each([
  ['no command', { commandDigest: undefined }, 'the command of the action has no digest'],
  ['no inputs', { inputRootDigest: undefined }, 'the input root of the action has no digest'],
  ['a digest that is none', { commandDigest: { hash: '../../etc', sizeBytes: 1 } }, 'is not a sha256 hash'],
  ['a time-out below nothing', { timeout: { seconds: -1, nanos: 0 } }, 'negative timeout'],
])('an action with %s is refused', (_, parts, words) => {
  expect(() => actionOrderFromProto(action(parts as Partial<Action>), 'sha256')).toThrow(words)
})

test('what is no message is refused', () => {
  const order = actionOrderFromProto(action(), 'sha256')
  expect(() => commandFromProto(Uint8Array.of(0x0a, 0xff), order)).toThrow('malformed Command')
  expect(() => commandFromProto(Uint8Array.of(0x0a, 2, 0xc3, 0x28), order)).toThrow('text is not UTF-8')
})
