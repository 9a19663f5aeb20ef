import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PLAIN_COMMAND, type Run, type Runtime } from '../run/runtime.ts'
import type { RoomRuntimeOptions } from './room-runtime.ts'

export interface Trial {
  readonly script: string
  /** The output that it must write. */
  readonly says: string
}

const TRIAL_MS = 10_000

/**
 * Tests whether rooms work by making one. Throws with the reason when that fails or the room is not isolated as
 * required.
 */
export async function tryRoom(
  runtime: Runtime,
  { folder, user }: Pick<RoomRuntimeOptions, 'folder' | 'user'>,
  { script, says }: Trial,
): Promise<void> {
  const place = realpathSync(mkdtempSync(join(folder, 'probe-')))
  try {
    chmodSync(place, 0o711)
    const [path, tmp] = ['root', 'tmp'].map((name) => join(place, name)) as [string, string]
    for (const each of [path, tmp]) {
      mkdirSync(each, { mode: 0o755 })
      if (user !== undefined) chownSync(each, user.uid, user.gid)
    }
    const room = { name: place.slice(place.lastIndexOf('/') + 1), path, tmp }
    const run = plainRun({ script: `${script}; : > made`, room, limits: { wallMs: TRIAL_MS, openFiles: 200 } })
    const end = await runtime.run(run, new AbortController().signal)
    const said = Buffer.from(end.stdout.bytes).toString()
    if (end.cause === 'ok' && said === says) return
    const words = [end.reason, Buffer.from(end.stderr.bytes).toString().trim(), said.trim()].filter(Boolean)
    throw new Error(`a room was made, but is not as it should be: ${words.join('; ').slice(0, 500)}`)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

export const plainRun = ({ script, room, limits }: { script: string } & Pick<Run, 'room' | 'limits'>): Run => ({
  ...{ command: { ...PLAIN_COMMAND, argv: ['/bin/sh', '-c', script] }, room, limits, hooks: {} },
})
