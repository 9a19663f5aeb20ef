/** bazel-remote, the cache that most people run; from PATH. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contestant, Found } from '../contestant.ts'
import { isZstd } from '../plan.ts'
import { usageOf } from '../process-usage.ts'
import { findOnPath } from './on-path.ts'
import { freePort, listening, type Spawned, spawnServer } from './spawned.ts'

type StorageMode = 'uncompressed' | 'zstd'
/** Its own default is a line for each call, which nobody else here writes and which would be its loss. */
const QUIET = ['--access_log_level', 'none']

interface Started {
  readonly port: number
  readonly server: Spawned
  readonly version: string
}

async function start(program: string, mode: StorageMode, folder: string): Promise<Started> {
  const dir = join(folder, mode)
  mkdirSync(dir, { recursive: true })
  const port = await freePort()
  const addresses = ['--grpc_address', `127.0.0.1:${port}`, '--http_address', `127.0.0.1:${await freePort()}`]
  const args = ['--dir', join(dir, 'data'), '--max_size', '100', '--storage_mode', mode, ...addresses, ...QUIET]
  const server = spawnServer({ program, args, folder: dir })
  await listening(port)
  return { port, server, version: versionIn(readFileSync(join(dir, 'server.log'), 'utf8')) }
}

/** It has no option that tells; its log opens with what it was built with and, where the builder said so, from what. */
function versionIn(log: string): string {
  const [, built] = /bazel-remote built with (.*)\.$/m.exec(log) ?? []
  if (built === undefined) return 'of unknown version'
  const [, go, tag] = /^(\S+).*?(v\d+\.\d+\.\d+)?$/.exec(built) ?? []
  return `${tag ?? 'of unknown version'}, built with ${go}`
}

/** In the storage mode that suits the load: two servers, of which only one is loaded at a time. */
export async function findBazelRemote(folder: string): Promise<Found> {
  const obtained = findOnPath({ name: 'bazel-remote', home: 'github.com/buchgr/bazel-remote' })
  if ('absent' in obtained) return obtained
  await using both = new AsyncDisposableStack()
  const identity = await start(obtained.program, 'uncompressed', folder)
  both.use(identity.server)
  const zstd = await start(obtained.program, 'zstd', folder)
  both.use(zstd.server)
  const serving = both.move()
  const contestant: Contestant = {
    name: 'bazel-remote',
    durability: 'a file for each blob, synced before the answer, then renamed into place',
    readCheck: 'none',
    command: `bazel-remote --dir DIR --max_size 100 --storage_mode uncompressed|zstd --grpc_address 127.0.0.1:PORT --http_address 127.0.0.1:PORT ${QUIET.join(' ')} (${identity.version})`,
    port: (kind) => (isZstd(kind) ? zstd : identity).port,
    usage: (kind) => usageOf((isZstd(kind) ? zstd : identity).server.pid),
    [Symbol.asyncDispose]: () => serving.disposeAsync(),
  }
  return { contestant }
}
