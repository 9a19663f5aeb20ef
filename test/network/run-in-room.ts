/**
 * Runs a script in a room with a network, on the host of this process, and prints its output. The argument is an object
 * in JSON: see RoomRequest.
 */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/app/process/clock.ts'
import { ownAddresses } from '../../src/app/process/own-addresses.ts'
import type { Command } from '../../src/model/command.ts'
import { localLauncher } from '../../src/runtimes/launcher/local-launcher.ts'
import { translatedNetworks } from '../../src/runtimes/network/translated-networks.ts'
import { installedTranslators } from '../../src/runtimes/network/translators.ts'
import { openRuntime } from '../../src/runtimes/open-runtime.ts'

export interface RoomRequest {
  readonly runtime: 'sandbox' | 'unshare'
  readonly reach: readonly string[]
  /** The program for address translation. */
  readonly translator: 'slirp4netns' | 'pasta'
  /** In Python. */
  readonly script: string
}

const commandOf = (text: string): Command => ({
  argv: ['/usr/bin/python3', '-c', text],
  env: [],
  workingDirectory: '',
  inputs: { root: undefined, files: [], uris: [] },
  outputs: { paths: { kind: 'any', paths: [] }, globs: [], directoryFormat: 'tree', properties: [] },
  platform: [],
  image: undefined,
  limits: {},
  network: true,
  cacheable: false,
})

const { runtime: options, reach, translator, script } = JSON.parse(process.argv[2] ?? '{}') as RoomRequest
const uid = process.getuid?.() ?? 0
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-networked-')))
chmodSync(folder, 0o755)
// The timers of the clock do not keep the process alive.
const alive = setInterval(() => {}, 2 ** 30)
const launcherFolder = join(folder, 'launcher')
mkdirSync(launcherFolder)
const launcher = localLauncher({
  name: `networked-${process.pid}`,
  folder: launcherFolder,
  useGroups: uid === 0,
  clock: systemClock,
  send: (pid, signal) => void process.kill(pid, signal),
})
const networks = translatedNetworks({
  folder: join(folder, 'networks'),
  isRoot: uid === 0,
  reach,
  own: ownAddresses,
  clock: systemClock,
  translators: (await installedTranslators()).filter(({ name }) => name === translator),
})
try {
  const common = { launcher, clock: systemClock, env: [], outputBytes: 1 << 20, arch: process.arch, uid, networks }
  const { runtime, probe, user } = await openRuntime(options, { ...common, folder: join(folder, 'runtime') })
  const problem = await probe.networkProblem()
  if (problem !== undefined) console.log(JSON.stringify({ problem }))
  else {
    const [path, tmp] = ['room', 'tmp'].map((name) => join(folder, name)) as [string, string]
    for (const each of [path, tmp]) {
      mkdirSync(each)
      if (user !== undefined) chownSync(each, user.uid, user.gid)
    }
    const room = { name: `networked-${process.pid}`, path, tmp }
    const run = { command: commandOf(script), room, limits: { wallMs: 60_000 }, hooks: {} }
    const end = await runtime.run(run, new AbortController().signal)
    const [stdout, stderr] = [end.stdout, end.stderr].map(({ bytes }) => Buffer.from(bytes).toString())
    console.log(JSON.stringify({ cause: end.cause, reason: end.reason, stdout, stderr }))
  }
} finally {
  await launcher.close()
  clearInterval(alive)
  rmSync(folder, { recursive: true, force: true })
}
