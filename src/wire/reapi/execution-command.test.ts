import { expect, test } from 'vitest'
import { Action, Command } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { encodedAs } from '../messages/messages.fixture.ts'
import { actionFromProto, commandFromProto } from './execution-action.ts'
import { commandOfAction } from './execution-command.ts'

const DIGEST = { hash: 'a'.repeat(64), sizeBytes: 5 }
const digest = { fn: 'sha256', hash: DIGEST.hash, size: 5 } as const

type Parts<T> = Parameters<typeof encodedAs<T>>[1]

const lowered = (action: Parts<Action>, command: Parts<Command>) =>
  commandOfAction(
    actionFromProto(encodedAs(Action, { commandDigest: DIGEST, inputRootDigest: DIGEST, ...action }), 'sha256'),
    commandFromProto(encodedAs(Command, { arguments: ['true'], ...command })),
  )

test('an action and its command become a command of ours, with everything that they say', () => {
  expect(
    lowered(
      { timeout: { seconds: 90, nanos: 5e8 }, doNotCache: true },
      {
        arguments: ['cc', '-c', 'a.c'],
        environmentVariables: [{ name: 'PATH', value: '/bin' }],
        outputPaths: ['a.o', 'out'],
        outputFiles: ['ignored'],
        workingDirectory: 'src',
        outputNodeProperties: ['mtime', 'UnixMode', 'MTIME'],
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

test('older clients say what each output must be, and no limit is none', () => {
  const { outputs, limits } = lowered({}, { outputFiles: ['a.o'], outputDirectories: ['out'] })
  expect(outputs.paths).toEqual({ kind: 'typed', files: ['a.o'], directories: ['out'] })
  expect(limits).toEqual({})
})

test('the platform of the action goes before that of the command, an empty one too', () => {
  const linux = { properties: [{ name: 'OSFamily', value: 'Linux' }] }
  const mac = { properties: [{ name: 'OSFamily', value: 'Mac' }] }
  expect(lowered({ platform: linux }, { platform: mac }).platform).toEqual(linux.properties)
  expect(lowered({ platform: {} }, { platform: mac }).platform).toEqual([])
  expect(lowered({}, { platform: mac }).platform).toEqual(mac.properties)
})

test('image and network are properties', () => {
  const properties = [
    { name: 'container-image', value: 'docker://alpine' },
    { name: 'dockerNetwork', value: 'standard' },
  ]
  expect(lowered({ platform: { properties } }, {})).toMatchObject({ image: 'docker://alpine', network: true })
})
