import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { INPUTS_DIRECTORY, WORKING_DIRECTORY } from '../../services/workflows/driver/step-room.ts'
import type { Rooms } from '../../worker/rooms/rooms.ts'
import type { ToolRoom } from '../../workflow/tool/room.ts'

/**
 * Rooms below a folder, given by its real path. They are kept until the run has ended and its folder is removed, because
 * outputs are read there; only temporary files are removed before.
 */
export const localRooms = (folder: string): Rooms => ({
  open(name) {
    const { path, tmp } = foldersOf(folder, name)
    for (const each of [path, tmp]) mkdirSync(each, { recursive: true })
    const close = (): Promise<void> => rm(tmp, { recursive: true, force: true })
    return { name, path, tmp, [Symbol.asyncDispose]: close }
  },
  cleared: async () => {},
})

const foldersOf = (folder: string, name: string) => ({
  path: join(folder, name, 'root'),
  tmp: join(folder, name, 'tmp'),
})

/** The paths of a room that a command without a container sees. */
export function localRoom(folder: string, name: string): ToolRoom {
  const { path, tmp } = foldersOf(folder, name)
  return { outdir: join(path, WORKING_DIRECTORY), tmpdir: tmp, inputsDir: join(path, INPUTS_DIRECTORY) }
}
