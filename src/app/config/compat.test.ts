import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from './load.ts'

/** Settings files of expbuild as users have them: they must work unchanged. */
const SERVER = `# expbuild-server.toml

[server]
address = "0.0.0.0:8980"
instance_name = "production"

[storage.cas]
backend = "filesystem"
root_dir = "/var/lib/expbuild/cas"

[storage.action_cache]
backend = "filesystem"
root_dir = "/var/lib/expbuild/cache"

[execution]
backend = "scheduler" # 新增：使用远程 Worker 调度器

[execution.scheduler]
lease_duration_seconds = 300 # 5 分钟
heartbeat_timeout_seconds = 120 # 2 分钟
long_poll_timeout_seconds = 30
max_queue_size = 10000

[capabilities]
exec_enabled = true
`

const WORKER = `# expbuild-worker.toml

[worker]
worker_id = "worker-host-01" # 自动生成或手动指定
server_url = "http://server.example.com:8980"
cas_url = "http://server.example.com:8980"
max_concurrent_tasks = 4
heartbeat_interval_seconds = 30
backend = "host"

[worker.platform]
OSFamily = "Linux"
Arch = "x86_64"
container = "none"

[worker.host]
work_dir = "/tmp/expbuild-worker"
use_sandbox = false
env_whitelist = ["PATH", "HOME"]

# Docker Worker 示例
# [worker]
# backend = "docker"
# [worker.docker]
# image = "ubuntu:22.04"
# network_mode = "none"
# cpu_limit = 2.0
# memory_limit = 4294967296
`

const DOCKER_WORKER = `[worker]
backend = "docker"
[worker.docker]
image = "ubuntu:22.04"
network_mode = "none"
cpu_limit = 2.0
memory_limit = 4294967296
`

const folder = mkdtempSync(join(tmpdir(), 'windlass-compat-'))
afterAll(() => rmSync(folder, { recursive: true }))

function load(toml: string, insecure = false) {
  const file = join(folder, 'file.toml')
  writeFileSync(file, toml)
  const flags = insecure ? [{ flag: '--insecure', key: 'server.insecure', value: true }] : []
  return loadConfig({ file, env: {}, home: '/home/ada', flags })
}

test('the only error in the server file is that its address needs --insecure', () => {
  expect(() => load(SERVER)).toThrow(/^[^\n]*server\.address = "0\.0\.0\.0:8980"[^\n]*add --insecure[^\n]*$/)
})

test('with --insecure all settings of the server file are read', () => {
  const { config, notes } = load(SERVER, true)
  expect(config.server).toMatchObject({ address: '0.0.0.0:8980', instance_name: 'production' })
  expect(config.storage).toMatchObject({
    cas: { backend: 'filesystem', root_dir: '/var/lib/expbuild/cas' },
    action_cache: { backend: 'filesystem', root_dir: '/var/lib/expbuild/cache' },
  })
  expect(config.execution).toMatchObject({
    backend: 'scheduler',
    scheduler: {
      lease_duration_seconds: 300,
      heartbeat_timeout_seconds: 120,
      long_poll_timeout_seconds: 30,
      max_queue_size: 10000,
    },
  })
  expect(config.capabilities).toEqual({ exec_enabled: true })
  expect(notes.map(({ level }) => level)).toEqual(['warn'])
})

test('all settings of the worker file are read', () => {
  const { config, notes } = load(WORKER)
  expect(config.worker).toMatchObject({
    worker_id: 'worker-host-01',
    server_url: 'http://server.example.com:8980',
    cas_url: 'http://server.example.com:8980',
    max_concurrent_tasks: 4,
    heartbeat_interval_seconds: 30,
    backend: 'host',
    platform: { OSFamily: 'Linux', Arch: 'x86_64', container: 'none' },
    host: { work_dir: '/tmp/expbuild-worker', use_sandbox: false, env_whitelist: ['PATH', 'HOME'] },
  })
  expect(notes).toEqual([])
})

test('all settings of the Docker worker file are read', () => {
  expect(load(DOCKER_WORKER).config.worker).toMatchObject({
    backend: 'docker',
    docker: { image: 'ubuntu:22.04', network_mode: 'none', cpu_limit: 2, memory_limit: 4294967296 },
  })
})
