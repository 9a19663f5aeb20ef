import { expect, test } from 'vitest'
import { Action, Command } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { encodedAs } from '../messages/messages.fixture.ts'
import { actionFromProto, commandFromProto, taskOfAction } from './action.ts'

const DIGEST = { hash: 'a'.repeat(64), sizeBytes: 5 }
const digest = { fn: 'sha256', hash: DIGEST.hash, size: 5 } as const

type Parts<T> = Parameters<typeof encodedAs<T>>[1]

function lowered(action: Parts<Action>, command: Parts<Command>) {
  const messages = {
    action: encodedAs(Action, { commandDigest: DIGEST, inputRootDigest: DIGEST, ...action }),
    command: encodedAs(Command, { arguments: ['true'], ...command }),
  }
  return taskOfAction({
    digest,
    action: actionFromProto(messages.action, 'sha256'),
    command: commandFromProto(messages.command),
    messages,
  })
}

test('taskOfAction makes a task of one stage from an Action and its Command', () => {
  const { action, ...task } = lowered(
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
  )
  expect(task).toMatchObject({
    fn: 'sha256',
    stages: [
      {
        argv: ['cc', '-c', 'a.c'],
        env: [{ name: 'PATH', value: '/bin' }],
        limits: { wallMs: 90_500 },
        network: false,
        stdin: undefined,
      },
    ],
    workingDirectory: 'src',
    inputs: { root: digest, files: [], placed: [] },
    outputs: { paths: ['a.o', 'out'], globs: [] },
    platform: [],
    image: undefined,
    cacheable: false,
  })
  expect(action).toMatchObject({
    digest,
    commandDigest: digest,
    outputFiles: [],
    outputDirectories: [],
    directoryFormat: 'both',
    properties: ['mtime', 'unixMode'],
  })
})

test('the older output_files and output_directories are kept apart, and no timeout gives no limit', () => {
  const { outputs, action, stages } = lowered({}, { outputFiles: ['a.o'], outputDirectories: ['out'] })
  expect(outputs.paths).toEqual([])
  expect(action).toMatchObject({ outputFiles: ['a.o'], outputDirectories: ['out'] })
  expect(stages[0]?.limits).toEqual({})
})

test('the platform of the Action takes precedence over that of the Command, even when empty', () => {
  const linux = { properties: [{ name: 'OSFamily', value: 'Linux' }] }
  const mac = { properties: [{ name: 'OSFamily', value: 'Mac' }] }
  expect(lowered({ platform: linux }, { platform: mac }).platform).toEqual(linux.properties)
  expect(lowered({ platform: {} }, { platform: mac }).platform).toEqual([])
  expect(lowered({}, { platform: mac }).platform).toEqual(mac.properties)
})

test('container-image and dockerNetwork set the image and the network of the task', () => {
  const properties = [
    { name: 'container-image', value: 'docker://alpine' },
    { name: 'dockerNetwork', value: 'standard' },
  ]
  expect(lowered({ platform: { properties } }, {})).toMatchObject({
    image: 'docker://alpine',
    stages: [{ network: true }],
  })
})
