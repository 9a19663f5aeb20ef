import { lookup } from 'node:dns/promises'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reachNames } from '../../base/address-rules.ts'
import type { Clock } from '../../base/clock.ts'
import { firstRunnable } from '../run/first-runnable.ts'
import { INSIDE } from '../run/inside.ts'
import { hostsFile, nameService, resolvConf } from './name-files.ts'
import { INTERFACE, networkBatch, ROOM_NET } from './network-plan.ts'
import { type NetworkUser, noRoomNetwork, type RoomNetwork, type RoomNetworks } from './room-networks.ts'
import { runNetworkTool, type SideProcess, startBeside } from './side-process.ts'
import { installedTranslators, type Translator } from './translators.ts'

export interface TranslatedNetworksOptions {
  /** A folder that only these networks use and that the users of rooms can reach. */
  readonly folder: string
  /** Whether the worker is root. */
  readonly isRoot: boolean
  /** The operator's list of addresses, ranges and names that rooms may reach although they are not public. */
  readonly reach: readonly string[]
  /** The addresses of this machine. */
  readonly own: () => readonly string[]
  readonly clock: Pick<Clock, 'after'>
  /** In order of preference; the installed ones by default. */
  readonly translators?: readonly Translator[]
}

interface Kit {
  readonly unshare: string
  readonly nsenter: string
  readonly ip: string
  readonly translator: Translator
}

/** A program that holds the namespaces while they are set up and joined. It ends with the worker. */
const KEEPER = ['/bin/sh', '-c', 'echo ready; exec cat > /dev/null']
const LOOK_ROUNDS = 250
const LOOK_MS = 20

/**
 * One network namespace per room, with address translation by a program that needs no rights in the room. The namespace
 * belongs to a user namespace between the machine's and the room's: the room's user owns it from outside and can join
 * it. Processes in the room run in a user namespace below, where they have no rights over the network and cannot change
 * a route.
 */
export function translatedNetworks(options: TranslatedNetworksOptions): RoomNetworks {
  const found = new Map<string, Promise<Kit>>()
  const kitFor = (user: NetworkUser): Promise<Kit> => {
    // Each room may have its own user. The result for one of them applies to all.
    const key = user === undefined ? 'own' : user.uid === 0 ? 'root' : 'other'
    const kit = found.get(key) ?? findKit(user, options)
    found.set(key, kit)
    kit.catch(() => {}) // reported to each caller of `kitFor`
    return kit
  }
  const orWhyNot = (opening: Promise<RoomNetwork>): Promise<RoomNetwork> =>
    opening.catch((error: unknown) => {
      throw noRoomNetwork(wordsOf(error), error)
    })
  return {
    isMachine: false,
    problem: (user) => kitFor(user).then(noProblem, wordsOf),
    open: (user) => orWhyNot(kitFor(user).then((kit) => openNetwork(kit, user, options))),
    connect: (pid) => orWhyNot(kitFor(undefined).then((kit) => connectNetwork(kit, { pid, user: undefined }, options))),
  }
}

const noProblem = (): undefined => undefined
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Tests whether a network can be made by making one. */
async function findKit(user: NetworkUser, options: TranslatedNetworksOptions): Promise<Kit> {
  const [unshare, nsenter, ip] = await Promise.all(['unshare', 'nsenter', 'ip'].map(firstRunnable))
  if (unshare === undefined || nsenter === undefined)
    throw new Error('util-linux is not installed (no unshare or nsenter)')
  if (ip === undefined) throw new Error('iproute2 is not installed (no ip)')
  const all = options.translators ?? (await installedTranslators())
  if (all.length === 0) throw new Error('neither slirp4netns nor pasta is installed (apt-get install slirp4netns)')
  const problems: string[] = []
  for (const translator of all) {
    const kit = { unshare, nsenter, ip, translator }
    try {
      const tried = await openNetwork(kit, user, options)
      await tried[Symbol.asyncDispose]()
      return kit
    } catch (error) {
      problems.push(`${translator.name}: ${reasonIn(wordsOf(error))}`)
    }
  }
  throw new Error(problems.join('; '))
}

/** Adds the remedy for the most frequent reason. */
function reasonIn(words: string): string {
  const isTun = /\/dev\/net\/tun|TUNSETIFF/.test(words)
  if (!isTun) return words.replaceAll('\n', ' ')
  return '/dev/net/tun cannot be opened by this user (chmod 666 /dev/net/tun, as most systems have it, or start the worker as root)'
}

async function openNetwork(kit: Kit, user: NetworkUser, options: TranslatedNetworksOptions): Promise<RoomNetwork> {
  await using parts = new AsyncDisposableStack()
  // Only root of the namespaces can configure the network from inside; a worker that is root does it from outside.
  const map = options.isRoot ? '--map-current-user' : '--map-root-user'
  const argv = [kit.unshare, '--user', map, '--net', ...KEEPER]
  const keeper = parts.adopt(startBeside({ argv, user }), (each) => each.end())
  await keeper.ready
  const connected = parts.use(await connectNetwork(kit, { pid: keeper.pid, user }, options))
  const open = parts.move()
  return { ...connected, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

interface ConnectedProcess {
  readonly pid: number
  /** The user that its user namespace belongs to; undefined for the worker's own. */
  readonly user: NetworkUser
}

async function connectNetwork(
  kit: Kit,
  { pid, user }: ConnectedProcess,
  options: TranslatedNetworksOptions,
): Promise<RoomNetwork> {
  await using parts = new AsyncDisposableStack()
  const translator = parts.adopt(startBeside(kit.translator.start(pid, user)), (each) => each.end())
  await translator.ready
  const net = `--net=/proc/${pid}/ns/net`
  const owner = [`--user=/proc/${pid}/ns/user`, '--preserve-credentials']
  const inside = [kit.nsenter, ...(options.isRoot ? [] : owner), net, kit.ip]
  if (!kit.translator.tellsReady) await configured(inside, translator, options.clock)
  const [names, resolved] = [await nameService(), await resolvedNames(options.reach)]
  const batch = networkBatch({
    reach: options.reach,
    resolved: [...resolved.values()].flat(),
    own: options.own(),
    nameServers: names.servers,
    forwardsMulticast: kit.translator.forwardsMulticast,
  })
  await runNetworkTool([...inside, '-batch', '-'], batch, undefined)
  const files = await written(options.folder, {
    '/etc/resolv.conf': resolvConf(names),
    '/etc/hosts': hostsFile(resolved, INSIDE.hostname),
  })
  parts.defer(files.remove)
  const open = parts.move()
  return {
    join: [kit.nsenter, ...owner, net, '--'],
    files: files.made,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** Resolves when the interface has its address. */
async function configured(
  inside: readonly string[],
  translator: SideProcess,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  for (let round = 0; round < LOOK_ROUNDS; round++) {
    const shown = await runNetworkTool([...inside, '-4', '-o', 'addr', 'show'], '', undefined)
    if (shown.includes(INTERFACE) && shown.includes(ROOM_NET.address)) return
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve))
  }
  throw new Error(`it created no interface: ${translator.words() || 'it gave no reason'}`)
}

/** Names that do not resolve now are left out: they are optional. */
async function resolvedNames(reach: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  for (const name of reachNames(reach)) {
    const addresses = await lookup(name, { all: true, family: 4 }).catch(() => [])
    if (addresses.length > 0)
      found.set(
        name,
        addresses.map(({ address }) => address),
      )
  }
  return found
}

async function written(folder: string, texts: Readonly<Record<string, string>>) {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const place = await mkdtemp(join(folder, 'names-'))
  const made = Object.entries(texts).map(([to, text]) => ({ from: join(place, to.replaceAll('/', '_')), to, text }))
  await chmod(place, 0o755)
  for (const { from, text } of made) await writeFile(from, text, { mode: 0o644 })
  return { made, remove: () => rm(place, { recursive: true, force: true }) }
}
