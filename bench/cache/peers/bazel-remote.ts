/** bazel-remote, the cache that most people run; built by Go from its published module, once. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Contestant, Found } from '../contestant.ts'
import { isZstd } from '../plan.ts'
import { usageOf } from '../process-usage.ts'
import { obtainGoProgram } from './go-program.ts'
import { freePort, listening, type Spawned, spawnServer } from './spawned.ts'

const VERSION = 'v2.6.1'
const PACKAGE = `github.com/buchgr/bazel-remote/v2@${VERSION}`
type StorageMode = 'uncompressed' | 'zstd'

async function start(program: string, mode: StorageMode, folder: string): Promise<{ port: number; server: Spawned }> {
  const dir = join(folder, mode)
  mkdirSync(dir, { recursive: true })
  const port = await freePort()
  const addresses = ['--grpc_address', `127.0.0.1:${port}`, '--http_address', `127.0.0.1:${await freePort()}`]
  const args = ['--dir', join(dir, 'data'), '--max_size', '100', '--storage_mode', mode, ...addresses]
  const server = spawnServer({ program, args, folder: dir })
  await listening(port)
  return { port, server }
}

/** In the storage mode that suits the load: two servers, of which only one is loaded at a time. */
export async function findBazelRemote(folder: string): Promise<Found> {
  const obtained = obtainGoProgram({ name: 'bazel-remote', from: PACKAGE })
  if ('absent' in obtained) return obtained
  const identity = await start(obtained.program, 'uncompressed', folder)
  const zstd = await start(obtained.program, 'zstd', folder)
  const contestant: Contestant = {
    name: 'bazel-remote',
    durability: 'a file for each blob, renamed into place; zstd files are synced before the answer',
    readCheck: 'none',
    command: `bazel-remote --dir DIR --max_size 100 --storage_mode uncompressed|zstd --grpc_address 127.0.0.1:PORT --http_address 127.0.0.1:PORT (${VERSION})`,
    port: (kind) => (isZstd(kind) ? zstd : identity).port,
    usage: (kind) => usageOf((isZstd(kind) ? zstd : identity).server.pid),
    async [Symbol.asyncDispose]() {
      await identity.server[Symbol.asyncDispose]()
      await zstd.server[Symbol.asyncDispose]()
    },
  }
  return { contestant }
}
