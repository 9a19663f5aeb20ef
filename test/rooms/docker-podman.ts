import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireTool } from '../../src/testing/require.ts'
import { type RunningEngine, ready } from './docker-daemon.ts'

/** The reason why Podman cannot be started here; undefined when it can. */
export function whyNoPodman(kind: 'rootful' | 'rootless'): string | undefined {
  if (process.env.WINDLASS_ROOMS !== 'all') return 'Podman is tried by npm run test:rooms'
  if (process.getuid?.() !== 0) return 'only root can start Podman as root, and as somebody else'
  const tools = [
    'podman',
    'runc',
    'catatonit',
    'busybox',
    'tar',
    ...(kind === 'rootless' ? ['newuidmap', 'setpriv'] : []),
  ]
  return tools.map(requireTool).find(({ present }) => !present)?.reason
}

/** Podman's defaults request higher limits than some machines allow. */
const CONTAINERS = `[containers]
default_ulimits = ["nofile=1024:20000","nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`

export interface PodmanUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Starts a service with Docker's API on its own socket; as another user where one is given. */
export async function startPodman(user?: PodmanUser): Promise<RunningEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-podman-'))
  const at = (name: string): string => join(folder, name)
  chmodSync(folder, 0o755)
  const storage = `[storage]\ndriver = "overlay"\nrunroot = "${at('run')}"\ngraphroot = "${at('graph')}"\n`
  writeFileSync(at('storage.conf'), storage)
  writeFileSync(at('containers.conf'), CONTAINERS)
  for (const name of ['run', 'graph', 'home', 'runtime', 'service']) {
    mkdirSync(at(name), { mode: 0o700 })
    if (user !== undefined) chownSync(at(name), user.uid, user.gid)
  }
  const socketPath = join(at('service'), 'socket')
  const env = {
    PATH: process.env.PATH,
    HOME: at('home'),
    XDG_RUNTIME_DIR: at('runtime'),
    CONTAINERS_STORAGE_CONF: at('storage.conf'),
    CONTAINERS_CONF: at('containers.conf'),
    ...(user === undefined ? {} : { USER: user.name, LOGNAME: user.name }),
  }
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--init-groups']
  const argv = [...as, 'podman', 'system', 'service', '--time=0', `unix://${socketPath}`]
  const child = spawn(argv[0] as string, argv.slice(1), { stdio: 'ignore', detached: true, env, cwd: folder })
  const engine = await ready(child, { folder, socketPath }, 'podman')
  const stop = async (): Promise<void> => {
    const clear = [...as, 'podman', 'system', 'reset', '--force']
    spawnSync(clear[0] as string, clear.slice(1), { stdio: 'ignore', env, cwd: folder })
    await engine.stop()
  }
  return { ...engine, stop, [Symbol.asyncDispose]: stop }
}

/** A user with subordinate uids, for the duration of the test. */
export function temporaryUser(): PodmanUser & Disposable {
  const name = `windlass-${process.pid}`
  const made = spawnSync('useradd', ['--no-create-home', '--home-dir', '/nonexistent', '-s', '/bin/sh', name])
  if (made.status !== 0) throw new Error(`no user could be made: ${made.stderr}`)
  const number = (flag: string): number => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
  const remove = (): void => {
    // Podman leaves a process behind that holds its namespaces.
    const left = spawnSync('ps', ['-o', 'pid=', '-U', name], { encoding: 'utf8' })
      .stdout.trim()
      .split(/\s+/)
      .filter(Boolean)
    for (const pid of left) process.kill(Number(pid), 'SIGKILL')
    spawnSync('userdel', ['--force', name])
  }
  return { name, uid: number('-u'), gid: number('-g'), [Symbol.dispose]: remove }
}
