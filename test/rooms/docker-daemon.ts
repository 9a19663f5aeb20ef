import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { requireTool } from '../../src/testing/require.ts'
import { busyboxRootfs, importImage } from './docker-image.ts'

/** A container engine of the test's own, with one image. */
export interface RunningEngine extends AsyncDisposable {
  readonly folder: string
  readonly socketPath: string
  /** The root file system that the image was made from. */
  readonly root: string
  stop(): Promise<void>
}

/** Podman puts `localhost/` before its own images, and gives imported ones the tag `latest`. */
export const IMAGE = 'localhost/busybox:latest'

/** The reason why Docker cannot be started here; undefined when it can. */
export function whyNoDocker(): string | undefined {
  if (process.platform !== 'linux') return 'dockerd runs on Linux only'
  if (process.getuid?.() !== 0) return 'only root can start dockerd'
  return ['dockerd', 'busybox', 'tar'].map(requireTool).find(({ present }) => !present)?.reason
}

const FLAGS = ['--iptables=false', '--ip6tables=false', '--ip-masq=false', '--ip-forward=false', '--bridge=none']

export async function startDocker(): Promise<RunningEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-dockerd-'))
  const at = (name: string): string => join(folder, name)
  const roots = ['--data-root', at('data'), '--exec-root', at('exec'), '-p', at('pid')]
  const child = spawn('dockerd', [...roots, '-H', `unix://${at('socket')}`, ...FLAGS], {
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
    env: { PATH: process.env.PATH, HOME: folder },
  })
  return ready(child, { folder, socketPath: at('socket') }, 'dockerd')
}

interface Place {
  readonly folder: string
  readonly socketPath: string
}

/** Waits for its first response and imports the image. */
export async function ready(child: ChildProcess, place: Place, name: string): Promise<RunningEngine> {
  const { folder, socketPath } = place
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    unmountBelow(folder)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await answering(socketPath, child, name)
    mkdirSync(join(folder, 'image'), { recursive: true })
    const root = busyboxRootfs(join(folder, 'image'), requireTool('busybox').command as string)
    await importImage({ socketPath, root, name: IMAGE, changes: ['ENV PATH=/bin'] })
    return { folder, socketPath, root, stop, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function answering(socketPath: string, child: ChildProcess, name: string): Promise<void> {
  for (let round = 0; round < 3000; round++) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    if (await ping(socketPath)) return
    await pause(100)
  }
  throw new Error(`${name} does not answer`)
}

const ping = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ socketPath, path: '/_ping', headers: { host: 'engine' } })
    asked.once('response', (answer) => resolve(answer.resume().statusCode === 200))
    asked.once('error', () => resolve(false))
    asked.end()
  })

/** Unmounts what a stopped engine left mounted. */
function unmountBelow(folder: string): void {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith(`${folder}/`))
  for (const point of points.reverse()) spawnSync('umount', ['-l', point])
}
