import { expect, test } from 'vitest'
import { Action, Command } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { encodedAs } from '../messages/messages.fixture.ts'
import { actionFromProto, commandFromProto } from './execution-action.ts'

const hash = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const digest = { hash, sizeBytes: 3 }
const noun = { fn: 'sha256', hash, size: 3 } as const

const actionOf = (action: Parameters<typeof encodedAs<Action>>[1]) =>
  actionFromProto(encodedAs(Action, { commandDigest: digest, inputRootDigest: digest, ...action }), 'sha256')

const commandOf = (command: Parameters<typeof encodedAs<Command>>[1]) =>
  commandFromProto(encodedAs(Command, { arguments: ['a'], ...command }))

test('an action is read as it is', () => {
  expect(actionOf({ timeout: { seconds: 1, nanos: 5e8 }, doNotCache: true })).toEqual({
    commandDigest: noun,
    inputRootDigest: noun,
    timeoutMs: 1500,
    doNotCache: true,
    platform: undefined,
  })
})

test('a platform with nothing in it is a platform: the command’s does not count then', () => {
  expect(actionOf({ platform: {} }).platform).toEqual([])
})

test('a timeout of nothing is none', () => {
  expect(actionOf({ timeout: {} }).timeoutMs).toBeUndefined()
})

test('an action without command or inputs is refused', () => {
  expect(() => actionOf({ commandDigest: undefined })).toThrow('the command of an action has no digest')
  expect(() => actionOf({ inputRootDigest: undefined })).toThrow('the input root of an action has no digest')
})

test('an action with a digest that is none, or a time-out below nothing, is refused', () => {
  expect(() => actionOf({ commandDigest: { hash: '../../etc', sizeBytes: 1 } })).toThrow('is not a sha256 hash')
  expect(() => actionOf({ timeout: { seconds: -1 } })).toThrow('negative')
})

test('what is no message is refused', () => {
  expect(() => commandFromProto(Uint8Array.of(0x0a, 0xff))).toThrow('malformed Command')
  expect(() => commandFromProto(Uint8Array.of(0x0a, 2, 0xc3, 0x28))).toThrow('text is not UTF-8')
})

test('a command is read as it is, and a working directory without its dots', () => {
  const command = commandOf({
    arguments: ['cc', '-c'],
    environmentVariables: [{ name: 'PATH', value: '/bin' }],
    workingDirectory: 'a/./b/',
    outputPaths: ['../out', ''],
    outputDirectoryFormat: 2,
    outputNodeProperties: ['MTime', 'unix_mode'],
    platform: { properties: [{ name: 'OSFamily', value: 'linux' }] },
  })
  expect(command).toEqual({
    argv: ['cc', '-c'],
    env: [{ name: 'PATH', value: '/bin' }],
    workingDirectory: 'a/b',
    outputs: {
      paths: { kind: 'any', paths: ['../out', ''] },
      globs: [],
      directoryFormat: 'both',
      properties: ['mtime', 'unixMode'],
    },
    platform: [{ name: 'OSFamily', value: 'linux' }],
  })
})

test('output_paths count, and what older clients say only without them', () => {
  const legacy = { outputFiles: ['f'], outputDirectories: ['d'] }
  expect(commandOf(legacy).outputs.paths).toEqual({ kind: 'typed', files: ['f'], directories: ['d'] })
  expect(commandOf({ ...legacy, outputPaths: ['p'] }).outputs.paths).toEqual({ kind: 'any', paths: ['p'] })
})

test.each<[string, Parameters<typeof encodedAs<Command>>[1], string]>([
  ['no program', { arguments: [] }, 'names no program'],
  ['an output above the inputs', { workingDirectory: 'a', outputPaths: ['../../x'] }, 'leads out of the inputs'],
  ['an unknown format', { outputDirectoryFormat: 7 as never }, 'output_directory_format 7 is not known'],
  ['a NUL in a variable', { environmentVariables: [{ name: 'a', value: '\0' }] }, 'has a NUL in it'],
  ['a node property of its own making', { outputNodeProperties: ['mtime', 'colour'] }, '"colour" is not supported'],
  ['a property without a name', { platform: { properties: [{ value: 'x' }] } }, 'has no name'],
])('%s is refused', (_, command, message) => {
  expect(() => commandOf(command)).toThrow(message)
})
