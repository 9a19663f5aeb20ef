/**
 * buildbox-casd, which executes actions itself. It must be installed in the Debian root file system, which needs root.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { inSid, sidHas } from '../../cache/peers/sid-root.ts'
import { freePort, listening, type Spawned, spawnServer } from '../../cache/peers/spawned.ts'

export interface Casd {
  readonly port: number
  readonly server: Spawned
}

/** Returns the server, or the reason why it is absent. */
export async function startCasd(folder: string, slots: number): Promise<Casd | { readonly absent: string }> {
  if (!sidHas('buildbox-casd') || !sidHas('buildbox-run-hosttools')) return { absent: 'buildbox is not installed' }
  if (process.getuid?.() !== 0) return { absent: 'entering its root file system needs to be root' }
  const own = join(folder, 'casd')
  mkdirSync(own, { recursive: true })
  const port = await freePort()
  const command = [
    ...['buildbox-casd', '--bind', `127.0.0.1:${port}`, '--buildbox-run', '/usr/bin/buildbox-run-hosttools'],
    ...['--jobs', `${slots}`, join(own, 'data')],
  ]
  const server = spawnServer({ ...inSid(own, command), folder: own })
  await listening(port)
  return { port, server }
}
