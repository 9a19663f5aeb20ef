/** bazel-remote, the most widely used cache; from PATH. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contestant, Found } from '../contestant.ts'
import { isZstd } from '../plan.ts'
import { findOnPath } from './on-path.ts'
import { freePort, type Spawned, spawnServer } from './spawned.ts'

type StorageMode = 'uncompressed' | 'zstd'
/** By default it logs a line for each call. No other contestant does, and it would cost CPU time. */
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
  await server.listening(port)
  return { port, server, version: versionIn(readFileSync(join(dir, 'server.log'), 'utf8')) }
}

/** It has no version option. Its log starts with the Go version and, if the build set it, the tag. */
function versionIn(log: string): string {
  const [, built] = /bazel-remote built with (.*)\.$/m.exec(log) ?? []
  if (built === undefined) return 'of unknown version'
  const [, go, tag] = /^(\S+).*?(v\d+\.\d+\.\d+)?$/.exec(built) ?? []
  return `${tag ?? 'of unknown version'}, built with ${go}`
}

/** Starts two servers, one for each storage mode. Only the one that suits the load is loaded. */
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
    usage: (kind) => (isZstd(kind) ? zstd : identity).server.usage(),
    [Symbol.asyncDispose]: () => serving.disposeAsync(),
  }
  return { contestant }
}
