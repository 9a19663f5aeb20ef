import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../src/testing/require.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { type Ran, windlass } from '../workers/worker-process.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

/** The configuration files of expbuild, with folders and a port of this test. */
const serverFile = (folder: string): string => `# expbuild-server.toml

[server]
address = "0.0.0.0:0"
instance_name = "production"

[storage.cas]
backend = "filesystem"
root_dir = "${folder}/cas"

[storage.action_cache]
backend = "filesystem"
root_dir = "${folder}/cache"

[execution]
backend = "scheduler"

[execution.scheduler]
lease_duration_seconds = 300
heartbeat_timeout_seconds = 120
long_poll_timeout_seconds = 30
max_queue_size = 10000

[capabilities]
exec_enabled = true
`

const workerFile = (folder: string, url: string, usesSandbox: boolean): string => `# expbuild-worker.toml

[worker]
worker_id = "worker-host-01"
server_url = "${url}"
cas_url = "${url}"
max_concurrent_tasks = 4
heartbeat_interval_seconds = 30
backend = "host"

[worker.platform]
OSFamily = "Linux"
Arch = "x86_64"
container = "none"

[worker.host]
work_dir = "${folder}/expbuild-worker"
use_sandbox = ${usesSandbox}
env_whitelist = ["PATH", "HOME"]
`

describeWith(['bwrap'], 'the configuration files of expbuild', () => {
  test('work unchanged, and each setting takes effect', { timeout: 180_000 }, async () => {
    const folder = ownFolder()
    const home = join(folder, 'home')
    mkdirSync(home)
    writeFileSync(join(folder, 'server.toml'), serverFile(folder))
    const more = ['--insecure', '--http', '127.0.0.1:0', '--data', join(folder, 'data')]
    const server = await start(['server', '--config', join(folder, 'server.toml'), ...more], {})
    const { grpc } = server.ready as { grpc: string }
    const address = `127.0.0.1:${grpc.split(':').at(-1)}`
    const run = (instance: string, ...words: string[]): Promise<Ran> =>
      windlass('run', '--server', `grpc://${address}`, '--instance', instance, '--', ...words)

    const startWorker = (usesSandbox: boolean) => {
      writeFileSync(join(folder, 'worker.toml'), workerFile(folder, `http://${address}`, usesSandbox))
      return start(['worker', 'daemon', '--config', join(folder, 'worker.toml')], { HOME: home })
    }
    const worker = await startWorker(false)
    expect(worker.ready).toMatchObject({ worker: 'worker-host-01', slots: 4 })

    // The HOME of the worker, and no sandbox around the command.
    const words = ['/bin/sh', '-c', 'echo "home $HOME"; pwd; date +%N']
    const onHost = await run('', ...words)
    expect(onHost).toMatchObject({ code: 0, out: expect.stringContaining(`home ${home}\n${folder}/expbuild-worker/`) })

    // A client that names no instance is in "production": the result is in its cache under either name, and not in
    // another instance's.
    expect((await run('production', ...words)).out).toBe(onHost.out)
    expect((await run('staging', ...words)).out).not.toBe(onHost.out)
    const { out: tasks } = await windlass('tasks', '--server', `grpc://${address}`, '--json')
    expect(tasks).toContain('"production"')

    // Action results have a folder of their own.
    const bytesIn = (path: string): number =>
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(path, name)))
        .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
    expect(bytesIn(join(folder, 'cache'))).toBeGreaterThan(0)
    expect(bytesIn(join(folder, 'cas'))).toBeGreaterThan(0)

    worker.stop()
    await worker.gone
    const sandboxed = await startWorker(true)
    const inRoom = await run('', '/bin/sh', '-c', 'pwd; echo in a sandbox')
    expect(inRoom).toMatchObject({ code: 0, out: '/room\nin a sandbox\n' })
    sandboxed.stop()
    server.stop()
    expect(await server.gone).toBe(0)
  })
})

async function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(WINDLASS, [...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WINDLASS_LOG_LEVEL: 'error', WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1', ...env },
  })
  const gone = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  const line = await new Promise<string>((found) => createInterface({ input: child.stdout }).once('line', found))
  return { ready: JSON.parse(line) as Record<string, unknown>, gone, stop: () => void child.kill('SIGINT') }
}
