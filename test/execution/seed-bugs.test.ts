/**
 * Defects of the first implementation of the protocol that our workers speak. Each test runs a whole server and whole
 * workers.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { STATUS } from '../../src/grpc/status.ts'
import { sharedFile } from '../../src/testing/shared-file.ts'
import { until } from '../workers/grid.ts'
import { seedClient } from '../workers/seed-client.ts'
import type { ResponseJson } from './execution-grid.ts'
import { refusal } from './execution-grid.ts'
import { decoded, encoded, nameOf } from './messages.ts'
import { shell, type WholeGrid, wholeGrid } from './whole-grid.ts'

type Output = { path: string; digest: ReturnType<typeof nameOf>; isExecutable?: boolean }

/** Appends a line to a file outside the room, so that runs can be counted. */
function counted({ folder }: WholeGrid) {
  const file = sharedFile(folder, 'runs')
  return { script: `echo x >> ${file}`, runs: () => readFileSync(file, 'utf8').length / 2 }
}

const textOf = (raw: unknown): string => Buffer.from(String(raw ?? ''), 'base64').toString()

const files = ({ result }: ResponseJson): Output[] => (result?.outputFiles ?? []) as Output[]

describe('the action cache', () => {
  test('a hit queues nothing and is marked as cached', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const { script, runs } = counted(grid)
    const request = await grid.action({ command: shell(script) })
    expect((await grid.execute(request)).at(-1)?.response?.cachedResult).toBeUndefined()
    const [only, ...more] = await grid.execute(request)
    expect([only?.done, only?.response?.cachedResult, more.length, runs()]).toEqual([true, true, 0, 1])
  })

  test('a result with a non-zero exit code is not stored', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const { script, runs } = counted(grid)
    const request = await grid.action({ command: shell(`${script}; exit 3`) })
    for (const run of [1, 2]) {
      const { response } = (await grid.execute(request)).at(-1) ?? {}
      expect([response?.result?.exitCode, response?.cachedResult, runs()]).toEqual([3, undefined, run])
    }
    const asked = grid.call('ActionCache', 'GetActionResult', request)
    expect(await refusal(asked)).toMatchObject({ code: STATUS.notFound })
  })

  test('a result with do_not_cache is not stored', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const { script, runs } = counted(grid)
    const request = await grid.action({ command: shell(script), action: { doNotCache: true } })
    await grid.execute(request)
    await grid.execute(request)
    expect(runs()).toBe(2)
  })
})

test('a task that fails completes its operation with FAILED_PRECONDITION', async () => {
  const grid = await wholeGrid()
  await grid.worker()
  const messages = await grid.execute(await grid.action({ command: shell('true', { workingDirectory: 'nowhere' }) }))
  const { done, response } = messages.at(-1) ?? {}
  expect([done, response?.status?.code]).toEqual([true, STATUS.failedPrecondition])
  expect(response?.message).toContain('nowhere')
})

describe('properties of an action', () => {
  test('timeout: the command is killed, and its output so far is returned with DEADLINE_EXCEEDED', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const pid = join(grid.folder, 'pid')
    const command = shell(`echo begun; sleep 600 & echo $! > ${pid}; wait`)
    const response = await grid.run({ command, action: { timeout: '0.5s' } })
    expect(response.status?.code).toBe(STATUS.deadlineExceeded)
    expect(textOf(response.result?.stdoutRaw)).toBe('begun\n')
    await until(() => !existsSync(`/proc/${readFileSync(pid, 'utf8').trim()}`))
  })

  test('platform: the task runs on the worker that offers it, or fails with FAILED_PRECONDITION', async () => {
    const grid = await wholeGrid({ EXECUTION_SCHEDULER_NO_WORKER_GRACE_SECONDS: '0.2' })
    await grid.worker({ WINDLASS_WORKER_WORKER_ID: 'plain', WINDLASS_WORKER_LABELS: 'speed=slow' })
    await grid.worker({ WINDLASS_WORKER_WORKER_ID: 'fast', WINDLASS_WORKER_LABELS: 'speed=fast' })
    const wanting = (value: string) => ({ platform: { properties: [{ name: 'label:speed', value }] } })
    const command = shell('true')
    const { result } = await grid.run({ command, action: wanting('fast') })
    expect(result?.executionMetadata?.worker).toBe('fast')
    const { status } = await grid.run({ command, action: wanting('light') })
    expect(status?.code).toBe(STATUS.failedPrecondition)
  })

  test('priority: the task with the lower number runs first', async () => {
    const grid = await wholeGrid()
    const order = sharedFile(grid.folder, 'order')
    const go = join(grid.folder, 'go')
    await grid.worker({ WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '1', WINDLASS_WORKER_PREFETCH_TASKS: '0' })
    const begun = join(grid.folder, 'begun')
    const first = grid.run({ command: shell(`touch ${begun}; while [ ! -e ${go} ]; do sleep 0.02; done`) })
    await until(() => existsSync(begun))
    const says = (word: string, priority: number) =>
      grid.run({ command: shell(`echo ${word} >> ${order}`) }, { executionPolicy: { priority } })
    const queued = async (count: number) => {
      const { operations = [] } = decoded<{ operations?: unknown[] }>(
        'google.longrunning.ListOperationsResponse',
        (
          await grid.channel.unary(
            '/google.longrunning.Operations/ListOperations',
            encoded('google.longrunning.ListOperationsRequest', {}),
          )
        ).message,
      )
      return operations.length === count
    }
    const late = says('late', 10)
    await until(() => queued(2))
    const soon = says('soon', -10)
    await until(() => queued(3))
    writeFileSync(go, '')
    await Promise.all([first, late, soon])
    expect(readFileSync(order, 'utf8')).toBe('soon\nlate\n')
  })

  test('environment: the command gets its own variables, and no WINDLASS_WORKER_ variable of the worker', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const environmentVariables = [
      { name: 'PATH', value: '/usr/bin:/bin' },
      { name: 'MY_OWN', value: 'kept' },
      { name: 'HOME', value: '/nowhere' },
    ]
    const { result } = await grid.run({ command: { ...shell('env'), environmentVariables } })
    const printed = textOf(result?.stdoutRaw)
    expect(printed).toMatch(/^MY_OWN=kept$/m)
    expect(printed).toMatch(/^HOME=\/nowhere$/m)
    expect(printed).not.toMatch(/WINDLASS_WORKER_/)
  })
})

test('a task whose lease expires is queued again and runs on another worker', async () => {
  const grid = await wholeGrid({
    EXECUTION_SCHEDULER_LEASE_DURATION_SECONDS: '1',
    EXECUTION_SCHEDULER_HEARTBEAT_TIMEOUT_SECONDS: '1',
    WORKER_HEARTBEAT_INTERVAL_SECONDS: '0.3',
  })
  const silent = seedClient(grid.address)
  await silent.call('RegisterWorker', { workerId: 'silent', capabilities: { maxConcurrentExecutions: 1 } })
  const leased = silent.call('LeaseTask', { workerId: 'silent', maxTasks: 1, timeoutSeconds: '10' })
  const running = grid.run({ command: shell('echo done at last') })
  expect(await leased).toMatchObject({ tasks: [{ operationName: expect.any(String) }] })
  await grid.worker({ WINDLASS_WORKER_WORKER_ID: 'diligent' })
  const { result } = await running
  expect(result?.executionMetadata?.worker).toBe('diligent')
  expect(textOf(result?.stdoutRaw)).toBe('done at last\n')
})

describe('outputs of an action', () => {
  test('output_files and output_directories are collected for older clients', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const response = await grid.run({
      command: shell('echo 1 > a; mkdir -p d/e; echo 2 > d/e/f; chmod +x a', {
        outputFiles: ['a', 'never'],
        outputDirectories: ['d'],
      }),
    })
    expect(files(response)).toMatchObject([{ path: 'a', isExecutable: true }])
    expect((await grid.read(files(response)[0]?.digest)).toString()).toBe('1\n')
    expect(response.result?.outputDirectories).toMatchObject([{ path: 'd', treeDigest: {} }])
  })

  test('a directory in output_paths is collected with its content', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const command = shell('mkdir -p out/deep; echo 2 > out/deep/f; echo 1 > file', { outputPaths: ['file', 'out'] })
    const response = await grid.run({ command })
    expect(files(response)).toMatchObject([{ path: 'file' }])
    const [{ treeDigest } = {}] = (response.result?.outputDirectories ?? []) as unknown as {
      treeDigest: Output['digest']
    }[]
    const tree = decoded<{ children: { files: Output[] }[] }>('Tree', await grid.read(treeDigest))
    expect(tree.children.map((child) => child.files)).toMatchObject([[{ name: 'f' }]])
  })

  test('symlinks are collected as links, also dangling ones', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const script = 'echo 1 > a; ln -s a to-file; mkdir d; ln -s d to-directory; ln -s nowhere dangling'
    const links = ['to-file', 'to-directory', 'dangling']
    const newer = await grid.run({ command: shell(script, { outputPaths: links }) })
    expect(newer.result?.outputSymlinks).toMatchObject([
      { path: 'to-file', target: 'a' },
      { path: 'to-directory', target: 'd' },
      { path: 'dangling', target: 'nowhere' },
    ])
    const older = await grid.run({
      command: shell(script, { outputFiles: ['to-file'], outputDirectories: ['to-directory'] }),
    })
    expect(older.result?.outputFileSymlinks).toMatchObject([{ path: 'to-file', target: 'a' }])
    expect(older.result?.outputDirectorySymlinks).toMatchObject([{ path: 'to-directory', target: 'd' }])
  })

  test('output paths are relative to the working directory', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const file = Buffer.from('flour')
    const sub = encoded('Directory', { files: [{ name: 'in', digest: nameOf(file) }] })
    await grid.put(file, sub)
    const response = await grid.run({
      command: shell('mkdir -p gen; cat in in > gen/out', { workingDirectory: 'sub', outputPaths: ['gen/out'] }),
      root: { directories: [{ name: 'sub', digest: nameOf(sub) }] },
    })
    expect(files(response)).toMatchObject([{ path: 'gen/out' }])
    expect((await grid.read(files(response)[0]?.digest)).toString()).toBe('flourflour')
  })
})

describe('blobs of an action', () => {
  test('an output of 320 MiB is streamed and never held whole in memory', { timeout: 600_000 }, async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const MIB = 1024 * 1024
    const size = 320 * MIB
    const before = process.memoryUsage().rss
    let most = before
    const looking = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss)
    }, 20)
    try {
      const command = shell(`head -c ${size} /dev/zero > big`, { outputPaths: ['big'] })
      const [big] = files(await grid.run({ command }))
      expect(big?.digest.sizeBytes).toBe(String(size))
      const root = { files: [{ name: 'big', digest: big?.digest ?? {} }] }
      const counting = await grid.run({ command: shell('wc -c < big'), root })
      expect(textOf(counting.result?.stdoutRaw).trim()).toBe(String(size))
      let read = 0
      await grid.read(big?.digest, (piece) => {
        read += piece.length
      })
      expect(read).toBe(size)
    } finally {
      clearInterval(looking)
    }
    // Server, worker and client all run in this process: each of them would have held all of it.
    expect((most - before) / MIB).toBeLessThan(size / MIB)
  })

  test('the empty blob need not be uploaded', async () => {
    const grid = await wholeGrid()
    await grid.worker()
    const nothing = nameOf(new Uint8Array())
    const root = {
      files: [{ name: 'empty', digest: nothing }],
      directories: [{ name: 'hollow', digest: nothing }],
    }
    const command = shell('wc -c < empty; ls hollow; : > made', { outputPaths: ['made'] })
    const response = await grid.run({ command, root })
    expect(textOf(response.result?.stdoutRaw).trim()).toBe('0')
    expect(files(response)).toMatchObject([{ path: 'made', digest: { hash: nothing.hash } }])
  })

  test('a digest with a wrong size is missing', async () => {
    const grid = await wholeGrid()
    const { actionDigest } = await grid.action({ command: shell('true') })
    const other = { ...actionDigest, sizeBytes: String(Number(actionDigest.sizeBytes) + 1) }
    const { missingBlobDigests } = await grid.call<{ missingBlobDigests?: unknown[] }>(
      'ContentAddressableStorage',
      'FindMissingBlobs',
      { blobDigests: [actionDigest, other] },
    )
    expect(missingBlobDigests).toEqual([other])
    expect(await refusal(grid.execute({ actionDigest: other }))).toMatchObject({ code: STATUS.failedPrecondition })
  })
})
