/**
 * buildbox-casd of the BuildBox suite, in C++; from PATH, or from a root file system of Debian unstable, which needs
 * root.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Contestant, Found } from '../contestant.ts'
import { findOnPath } from './on-path.ts'
import { bringIntoSid, inSid, sidHas } from './sid-root.ts'
import { freePort, spawnServer } from './spawned.ts'

export async function findCasd(folder: string, isAskedFor: boolean): Promise<Found> {
  const port = await freePort()
  const args = ['--bind', `127.0.0.1:${port}`, join(folder, 'data')]
  const found = casdCommand(folder, args, isAskedFor)
  if ('absent' in found) return found
  mkdirSync(folder, { recursive: true })
  const server = spawnServer({ ...found, folder })
  await server.listening(port)
  const contestant: Contestant = {
    name: 'buildbox-casd',
    durability: 'a file for each blob, linked into place; nothing is synced',
    readCheck: 'none',
    command: 'buildbox-casd --bind 127.0.0.1:PORT DIR',
    port: () => port,
    usage: () => server.usage(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  return { contestant }
}

type CasdCommand = { readonly program: string; readonly args: readonly string[] } | { readonly absent: string }

function casdCommand(folder: string, args: readonly string[], isAskedFor: boolean): CasdCommand {
  const onPath = findOnPath({ name: 'buildbox-casd', home: 'gitlab.com/BuildGrid/buildbox' })
  if ('program' in onPath) return { program: onPath.program, args }
  if (!sidHas('buildbox-casd')) {
    if (!isAskedFor)
      return { absent: 'not on PATH and not brought yet: `npm run bench cache -- --with-casd` downloads it' }
    const why = bringIntoSid(['buildbox'])
    if (why !== undefined) return { absent: why }
  }
  if (process.getuid?.() !== 0) return { absent: 'entering its root file system needs to be root' }
  return inSid(folder, ['buildbox-casd', ...args])
}
