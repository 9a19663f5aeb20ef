/** buildbox-casd of the BuildBox suite, the C++ one; from a root of Debian's unstable branch, as root only. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Contestant, Found } from '../contestant.ts'
import { usageOf } from '../process-usage.ts'
import { bringIntoSid, inSid, sidHas } from './sid-root.ts'
import { freePort, listening, spawnServer } from './spawned.ts'

export async function findCasd(folder: string, isAskedFor: boolean): Promise<Found> {
  if (!sidHas('buildbox-casd')) {
    if (!isAskedFor) return { absent: 'not brought yet: --with-casd downloads it' }
    const why = bringIntoSid(['buildbox'])
    if (why !== undefined) return { absent: why }
  }
  if (process.getuid?.() !== 0) return { absent: 'entering its root file system needs to be root' }
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const command = ['buildbox-casd', '--bind', `127.0.0.1:${port}`, join(folder, 'data')]
  const server = spawnServer({ ...inSid(folder, command), folder })
  await listening(port)
  const contestant: Contestant = {
    name: 'buildbox-casd',
    durability: 'a file for each blob, linked into place; nothing is synced',
    readCheck: 'none',
    command: 'buildbox-casd --bind 127.0.0.1:PORT DIR',
    port: () => port,
    usage: () => usageOf(server.pid),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  return { contestant }
}
