import { execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tryRead } from '../../src/runtimes/processes/small-files.ts'
import { describeWith, OPEN_CHECKOUT, testWith } from '../../src/testing/require.ts'
import { ATTACKS_ON_ROUTES, allowed } from './attacks-on-routes.ts'
import type { RoomRequest } from './run-in-room.ts'
import { PEER, type TwoHosts, twoHosts } from './two-hosts.ts'

const PROGRAM = resolve(import.meta.dirname, 'run-in-room.ts')
const ORDINARY = '65530'

interface Ended {
  readonly problem?: string
  readonly cause?: string
  readonly stdout?: string
  readonly stderr?: string
}

type As = 'root' | 'ordinary user' | 'ordinary user without /dev/net/tun'

/**
 * Runs as an ordinary user with a world-accessible /dev/net/tun, as on most systems, mounted in this mount namespace
 * only.
 */
const AS_ORDINARY = `
case $1 in open) mknod -m 666 "$2/tun" c 10 200; mount --bind "$2/tun" /dev/net/tun;; esac
case $1 in closed) mknod -m 600 "$2/tun" c 10 200; mount --bind "$2/tun" /dev/net/tun;; esac
shift 2
exec setpriv --reuid ${ORDINARY} --regid ${ORDINARY} --clear-groups "$@"`

const WAYS: Readonly<Record<Exclude<As, 'root'>, string>> = {
  'ordinary user': 'open',
  'ordinary user without /dev/net/tun': 'closed',
}

async function inRoom({ grid }: TwoHosts, as: As, request: RoomRequest): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-ordinary-'))
  chmodSync(folder, 0o777)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const before = as === 'root' ? [] : ['unshare', '--mount', 'sh', '-c', AS_ORDINARY, 'sh', WAYS[as], folder]
  const [program = '', ...words] = [...grid, ...before, process.execPath, PROGRAM, JSON.stringify(request)]
  const env = { ...process.env, TMPDIR: folder, HOME: folder }
  const { stdout } = await promisify(execFile)(program, words, { env, cwd: folder, timeout: 240_000 })
  return JSON.parse(stdout) as Ended
}

const linesOf = ({ stdout = '', stderr, cause, problem }: Ended): string[] => {
  expect({ cause, problem }, stderr).toEqual({ cause: 'ok', problem: undefined })
  return stdout.trim().split('\n')
}

const childrenOf = (pid: number): string[] =>
  tryRead(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean)
const programsBelow = (pid: number): string[] => childrenOf(pid).map((each) => tryRead(`/proc/${each}/comm`).trim())
const isDead = (pid: string): boolean => /^\d+ \(.*\) Z/.test(tryRead(`/proc/${pid}/stat`))

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setTimeout(done, 20))
}

describeWith(
  ['bwrap', 'unshare', 'slirp4netns', 'pasta', 'ip', 'network namespaces of root', 'python3'],
  'the network of a room',
  () => {
    describe.each(['sandbox', 'unshare'] as const)('with the backend %s', (runtime) => {
      const reachesOnlyListed = (as: As, translator: RoomRequest['translator']): void =>
        test(`for a worker that is ${as}, by ${translator}, reaches only public and listed addresses`, {
          timeout: 300_000,
        }, async () => {
          const hosts = await twoHosts()
          const listed = [PEER.otherPrivate]
          const reached = linesOf(
            await inRoom(hosts, as, { runtime, translator, reach: listed, script: allowed(listed) }),
          )
          expect(reached.map((line) => line.replace(/.* /, ''))).toEqual(reached.map(() => 'through'))
          const attacks = linesOf(
            await inRoom(hosts, as, { runtime, translator, reach: [], script: ATTACKS_ON_ROUTES }),
          )
          expect(attacks.filter((line) => !line.endsWith(' refused'))).toEqual([])
          expect(attacks.length).toBeGreaterThan(50)
        })

      reachesOnlyListed('root', 'slirp4netns')
      describeWith(OPEN_CHECKOUT, 'without root', () => {
        reachesOnlyListed('ordinary user', 'slirp4netns')
        reachesOnlyListed('ordinary user', 'pasta')
      })
    })

    test('is removed with all its processes when the worker is killed', async () => {
      const { grid } = await twoHosts()
      const script = 'import time\nopen("begun", "w").close()\ntime.sleep(600)'
      const request: RoomRequest = { runtime: 'sandbox', translator: 'slirp4netns', reach: [], script }
      const [program = '', ...words] = [...grid, process.execPath, PROGRAM, JSON.stringify(request)]
      const worker = spawn(program, words, { stdio: 'ignore' })
      onTestFinished(() => void worker.kill('SIGKILL'))
      const pid = worker.pid as number
      await until(() => programsBelow(pid).includes('slirp4netns') && programsBelow(pid).includes('bwrap'))
      const below = childrenOf(pid)
      worker.kill('SIGKILL')
      await until(() => below.every((each) => !existsSync(`/proc/${each}`) || isDead(each)))
    })

    testWith(OPEN_CHECKOUT, 'is refused with the reason when the worker cannot open /dev/net/tun', async () => {
      const request = { runtime: 'sandbox', translator: 'slirp4netns', reach: [], script: '' } as const
      const { problem } = await inRoom(await twoHosts(), 'ordinary user without /dev/net/tun', request)
      expect(problem).toContain('/dev/net/tun cannot be opened by this user')
    })
  },
)
