import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { IS_ROOT } from '../../src/runtimes/bare/bare.fixture.ts'
import { describeWith, OPEN_CHECKOUT } from '../../src/testing/require.ts'
import { windlass } from '../workers/worker-process.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')
/** A user that no other process on this machine has. */
const USER = 65_529

describeWith(['bwrap', 'setpriv', ...(IS_ROOT ? [OPEN_CHECKOUT] : [])], 'a worker without root', () => {
  test("a task that makes its streams inaccessible affects no later task nor the worker's shutdown", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-user-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
    chmodSync(folder, 0o755)
    if (IS_ROOT) chownSync(folder, USER, USER)
    const { server, stop } = await up(folder)
    const run = (script: string) => windlass('run', '--server', server, '--', '/bin/sh', '-c', script)
    for (const _ of [1, 2]) await run('chmod 0 /proc/self/fd/1 /proc/self/fd/2')
    for (const each of ['one', 'two', 'three'])
      expect(await run(`echo ${each}`)).toMatchObject({ code: 0, out: `${each}\n` })
    const pids = processesIn(folder)
    expect(pids.length).toBeGreaterThan(1)
    await stop()
    for (let i = 0; i < 200 && processesIn(folder).length > 0; i++) await pause(20)
    expect(processesIn(folder)).toEqual([])
  })
})

/** Runs `windlass up` as an ordinary user. */
async function up(folder: string): Promise<{ server: string; stop(): Promise<void> }> {
  const as = IS_ROOT ? ['setpriv', '--reuid', `${USER}`, '--regid', `${USER}`, '--clear-groups'] : ['env']
  const args = [
    WINDLASS,
    'up',
    '--json',
    '--grpc',
    '127.0.0.1:0',
    '--http',
    '127.0.0.1:0',
    '--data',
    join(folder, 'data'),
  ]
  const [program, ...rest] = [...as, ...args] as [string, ...string[]]
  const env = { ...process.env, HOME: folder, TMPDIR: folder, WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1' }
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: folder })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  const gone = new Promise<void>((done) => child.once('close', () => done()))
  onTestFinished(() => {
    for (const pid of processesIn(folder)) process.kill(pid, 'SIGKILL')
  })
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([new Promise<string>((done) => lines.once('line', done)), gone])
  if (typeof line !== 'string') throw new Error(`it did not start: ${log}`)
  const { grpc } = JSON.parse(line) as { grpc: string }
  return {
    server: `grpc://${grpc}`,
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** The server, its worker, the worker's spawner and its children, all of which have the folder in their environment. */
function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => isOurs(pid, folder))
    .map(Number)
}

function isOurs(pid: string, folder: string): boolean {
  try {
    if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return false
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return IS_ROOT ? uid === `${USER}` : readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder)
  } catch {
    return false
  }
}
