import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { directoryWith, fresh, target, useGrid } from './grid.fixture.ts'

useGrid()

const WINDLASS = fileURLToPath(new URL('../../bin/windlass', import.meta.url))
const WATCH = fileURLToPath(new URL('../testing/exit-watch.ts', import.meta.url))
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/0'
const TOOL = 'cwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: "true"\ninputs: []\noutputs: []\n'

/** Runs the program and reports what keeps it alive at its end; returns its standard error. */
async function ended(argv: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: `--import=${WATCH}` }
  const child = spawn(WINDLASS, argv, { stdio: ['ignore', 'ignore', 'pipe'], env })
  return await text(child.stderr)
}

/** No server listens here: the connection is refused, without a retry. */
const NOWHERE = 'grpc://127.0.0.1:1'

describe('exit of a command that connects to a server', () => {
  const commands: Readonly<Record<string, (server: string) => readonly string[]>> = {
    run: (server) => ['run', '-s', server, '--', '/bin/echo', 'hello'],
    'run, from the cache': (server) => ['run', '-s', server, '--', '/bin/echo', 'hello'],
    workers: (server) => ['workers', '-s', server],
    tasks: (server) => ['tasks', '-s', server],
    task: (server) => ['task', '-s', server, '1-1'],
    'task --logs': (server) => ['task', '-s', server, '1-1', '--logs'],
    top: (server) => ['top', '-s', server],
    'cas put': (server) => ['cas', 'put', '-s', server, directoryWith({ a: 'a' })],
    'cas get': (server) => ['cas', 'get', '-s', server, EMPTY],
    'cas stat': (server) => ['cas', 'stat', '-s', server],
    'cas gc': (server) => ['cas', 'gc', '-s', server],
    check: (server) => ['check', 'reapi', '--target', server, '--only', 'capabilities.*'],
    'worker execute': (server) => [
      ...['worker', 'execute', '--cas-url', server.replace('grpc', 'http'), '--backend', 'host'],
      ...['--action-digest', EMPTY, '--work-dir', fresh()],
    ],
    'cwl run --server': (server) => [
      ...['cwl', 'run', '--quiet', '--server', server, '--outdir', fresh()],
      `${directoryWith({ 'a.cwl': TOOL })}/a.cwl`,
    ],
    'cwl run': () => ['cwl', 'run', '--quiet', '--outdir', fresh(), `${directoryWith({ 'a.cwl': TOOL })}/a.cwl`],
  }

  test.each(Object.keys(commands))('%s leaves no timer or socket open', async (name) => {
    expect(await ended(commands[name]?.(target()) ?? [])).not.toContain('still open')
  })

  test.each(['run', 'workers', 'check'])('%s leaves no timer or socket open where no server listens', async (name) => {
    expect(await ended(commands[name]?.(NOWHERE) ?? [])).not.toContain('still open')
  })
})
