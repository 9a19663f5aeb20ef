/**
 * The rules of the Remote Execution API for running a command and collecting its outputs, tested with a server and a
 * worker.
 */
import type { JsonObject } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { STATUS } from '../../src/grpc/status.ts'
import type { ResponseJson } from './execution-grid.ts'
import { decoded, encoded, nameOf } from './messages.ts'
import { shell, type WholeGrid, wholeGrid } from './whole-grid.ts'

const textOf = (raw: unknown): string => Buffer.from(String(raw ?? ''), 'base64').toString()
const paths = (outputs: unknown): string[] => ((outputs ?? []) as { path?: string }[]).map(({ path = '' }) => path)

async function grid(): Promise<WholeGrid> {
  const whole = await wholeGrid()
  await whole.worker()
  return whole
}

/** A tree with a program in `sub/bin/tool`, which prints its own name. */
async function withTool({ put }: WholeGrid): Promise<JsonObject> {
  const tool = Buffer.from('#!/bin/sh\necho "I am $0"\n')
  const bin = encoded('Directory', { files: [{ name: 'tool', digest: nameOf(tool), isExecutable: true }] })
  const sub = encoded('Directory', { directories: [{ name: 'bin', digest: nameOf(bin) }] })
  await put(tool, bin, sub)
  return { directories: [{ name: 'sub', digest: nameOf(sub) }] }
}

describe('the program of a command', () => {
  test('is resolved from the working directory when it contains a slash', async () => {
    const whole = await grid()
    const root = await withTool(whole)
    const { result } = await whole.run({ command: { arguments: ['bin/tool'], workingDirectory: 'sub' }, root })
    expect(textOf(result?.stdoutRaw)).toMatch(/^I am .*bin\/tool\n$/)
    const elsewhere = await whole.run({ command: { arguments: ['bin/tool'] }, root })
    expect(elsewhere.result?.exitCode).toBe(127)
  })

  test('is searched in the PATH that the command declares when it contains no slash', async () => {
    const whole = await grid()
    const root = await withTool(whole)
    const of = (PATH: string) => ({
      arguments: ['tool'],
      workingDirectory: 'sub',
      environmentVariables: [{ name: 'PATH', value: PATH }],
    })
    const { result } = await whole.run({ command: of('bin:/usr/bin:/bin'), root })
    expect(result?.exitCode ?? 0).toBe(0)
    expect((await whole.run({ command: of('/nowhere'), root })).result?.exitCode).toBe(127)
  })

  test('is found in the default PATH when the command declares none', async () => {
    const whole = await grid()
    const { result } = await whole.run({ command: { arguments: ['true'] } })
    expect(result?.exitCode ?? 0).toBe(0)
  })
})

describe('the outputs of a command', () => {
  test('have their parent directories created before the command starts, but not the outputs themselves', async () => {
    const whole = await grid()
    const script = 'ls -d a/b c/d e; ls -d a/b/file c/d/tree e/any; echo 1 > a/b/file'
    const newer = await whole.run({ command: shell(script, { outputPaths: ['a/b/file', 'c/d/tree', 'e/any'] }) })
    expect(textOf(newer.result?.stdoutRaw)).toBe('a/b\nc/d\ne\n')
    const older = { outputFiles: ['a/b/file', 'e/any'], outputDirectories: ['c/d/tree'] }
    const { result } = await whole.run({ command: shell(script, older) })
    expect(textOf(result?.stdoutRaw)).toBe('a/b\nc/d\ne\n')
  })

  test('may be missing without an error', async () => {
    const whole = await grid()
    const { result, status } = await whole.run({ command: shell('echo 1 > a', { outputPaths: ['a', 'b', 'c/d'] }) })
    expect([status?.code, result?.exitCode, paths(result?.outputFiles)]).toEqual([undefined, undefined, ['a']])
  })

  test('with output_files or output_directories of the wrong type end in FAILED_PRECONDITION', async () => {
    const whole = await grid()
    for (const command of [shell('echo 1 > d', { outputDirectories: ['d'] }), shell('mkdir f', { outputFiles: ['f'] })])
      expect((await whole.run({ command })).status?.code).toBe(STATUS.failedPrecondition)
  })

  test('are the whole working directory for the empty path', async () => {
    const whole = await grid()
    const root = await withTool(whole)
    const command = shell('echo 1 > made', { workingDirectory: 'sub', outputPaths: [''] })
    const { result } = await whole.run({ command, root })
    expect(paths(result?.outputDirectories)).toEqual([''])
    const tree = await treeOf(whole, result)
    expect(tree.root.files?.map(({ name }) => name)).toEqual(['made'])
    expect(tree.root.directories?.map(({ name }) => name)).toEqual(['bin'])
  })

  test('in a directory are a Tree with parents first, equal directories once, and empty ones included', async () => {
    const whole = await grid()
    const script = 'mkdir -p t/x/same t/y/same t/empty; echo 1 > t/x/same/f; echo 1 > t/y/same/f'
    const { result } = await whole.run({ command: shell(script, { outputPaths: ['t'] }) })
    expect(result?.outputDirectories).toMatchObject([{ path: 't', isTopologicallySorted: true }])
    const { root, children } = await treeOf(whole, result)
    expect(root.directories?.map(({ name }) => name)).toEqual(['empty', 'x', 'y'])
    expect(children).toHaveLength(3) // the empty one; x and y, which are equal; same
  })

  test('are collected when the command exits with 7', async () => {
    const whole = await grid()
    const { result } = await whole.run({ command: shell('echo 1 > report; exit 7', { outputPaths: ['report'] }) })
    expect([result?.exitCode, paths(result?.outputFiles)]).toEqual([7, ['report']])
  })
})

interface Level {
  readonly files?: readonly { readonly name: string }[]
  readonly directories?: readonly { readonly name: string }[]
}

async function treeOf({ read }: WholeGrid, result: ResponseJson['result']) {
  const [directory] = (result?.outputDirectories ?? []) as unknown as { treeDigest: ReturnType<typeof nameOf> }[]
  return decoded<{ root: Level; children: Level[] }>('Tree', await read(directory?.treeDigest))
}

test('ExecutedActionMetadata has all nine timestamps in order, and the duration of the command', async () => {
  const whole = await grid()
  const { result } = await whole.run({ command: shell('sleep 0.1') })
  const printed = result?.executionMetadata ?? {}
  const times = [
    'queuedTimestamp',
    'workerStartTimestamp',
    'inputFetchStartTimestamp',
    'inputFetchCompletedTimestamp',
    'executionStartTimestamp',
    'executionCompletedTimestamp',
    'outputUploadStartTimestamp',
    'outputUploadCompletedTimestamp',
    'workerCompletedTimestamp',
  ].map((name) => Date.parse(printed[name] ?? ''))
  expect(times.every(Number.isFinite)).toBe(true)
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(Number.parseFloat(printed.virtualExecutionDuration ?? '')).toBeGreaterThanOrEqual(0.1)
})
