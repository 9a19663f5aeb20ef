import { expect, test } from 'vitest'
import { Action, Command } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { encodedAs } from '../messages/messages.fixture.ts'
import { actionFromProto, commandFromProto } from './action.ts'

const hash = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'
const digest = { hash, sizeBytes: 3 }
const noun = { fn: 'sha256', hash, size: 3 } as const

const actionOf = (action: Parameters<typeof encodedAs<Action>>[1]) =>
  actionFromProto(encodedAs(Action, { commandDigest: digest, inputRootDigest: digest, ...action }), 'sha256')

const commandOf = (command: Parameters<typeof encodedAs<Command>>[1]) =>
  commandFromProto(encodedAs(Command, { arguments: ['a'], ...command }))

test('an Action is decoded with all its fields', () => {
  expect(actionOf({ timeout: { seconds: 1, nanos: 5e8 }, doNotCache: true })).toEqual({
    commandDigest: noun,
    inputRootDigest: noun,
    timeoutMs: 1500,
    doNotCache: true,
    platform: undefined,
  })
})

test("an empty platform counts as a platform, so that the command's platform is ignored", () => {
  expect(actionOf({ platform: {} }).platform).toEqual([])
})

test('a timeout of 0 reads as no timeout', () => {
  expect(actionOf({ timeout: {} }).timeoutMs).toBeUndefined()
})

test('an Action without a command digest or an input root digest is refused', () => {
  expect(() => actionOf({ commandDigest: undefined })).toThrow('the command of an action has no digest')
  expect(() => actionOf({ inputRootDigest: undefined })).toThrow('the input root of an action has no digest')
})

test('an Action with an invalid digest or a negative timeout is refused', () => {
  expect(() => actionOf({ commandDigest: { hash: '../../etc', sizeBytes: 1 } })).toThrow('is not a sha256 hash')
  expect(() => actionOf({ timeout: { seconds: -1 } })).toThrow('negative')
})

test('bytes that are not a Command are refused as malformed', () => {
  expect(() => commandFromProto(Uint8Array.of(0x0a, 0xff))).toThrow('malformed Command')
  expect(() => commandFromProto(Uint8Array.of(0x0a, 2, 0xc3, 0x28))).toThrow('text is not UTF-8')
})

test('a Command is decoded with all its fields, and its working directory is normalised', () => {
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

test('output_paths takes precedence over the older output_files and output_directories', () => {
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
])('a Command with %s is refused', (_, command, message) => {
  expect(() => commandOf(command)).toThrow(message)
})
