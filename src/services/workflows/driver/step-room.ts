import { invalid } from '../../../base/fault.ts'
import { isFreePlace, type RoomPlace } from '../../../model/command-task.ts'
import type { RoomItem } from '../../../stagers/lay-out.ts'
import type { Staged, ToolRoom } from '../../../workflow/tool/room.ts'

/** The path of a room with namespaces, as its command sees it; equal on every worker. */
export const ROOM_INSIDE = '/room'
export const WORKING_DIRECTORY = 'out'
export const INPUTS_DIRECTORY = 'in'
/** The directory for files that are mounted at other paths. */
const ELSEWHERE = 'elsewhere'

/** The room of a step; in a container its working directory may have another name. */
export const stepRoom = (outputDirectory: string | undefined): ToolRoom => ({
  outdir: outputDirectory ?? `${ROOM_INSIDE}/${WORKING_DIRECTORY}`,
  tmpdir: '/tmp',
  inputsDir: `${ROOM_INSIDE}/${INPUTS_DIRECTORY}`,
})

export interface LaidStep {
  readonly items: readonly RoomItem[]
  readonly places: readonly RoomPlace[]
}

/** The path of each entry in the room, and the parts of the room that a container also mounts at other paths. */
export function laidStep({ outdir, inputsDir }: ToolRoom, staged: readonly Staged[], isContainer: boolean): LaidStep {
  const isShown = isContainer && outdir !== `${ROOM_INSIDE}/${WORKING_DIRECTORY}`
  const places: RoomPlace[] = isShown ? [{ path: WORKING_DIRECTORY, at: outdir, writable: true }] : []
  const items = staged.map((one): RoomItem => {
    const { path, writable } = one
    if (isWithin(path, outdir)) return { ...one, path: WORKING_DIRECTORY + path.slice(outdir.length) }
    if (isWithin(path, inputsDir)) return { ...one, path: INPUTS_DIRECTORY + path.slice(inputsDir.length) }
    if (!isContainer) throw invalid(`${path} is not in the room of the command`, 'unsupported')
    if (!isFreePlace(path)) throw invalid(`entryname: nothing can be shown at ${JSON.stringify(path)}`, 'unsupported')
    if (!places.some(({ at }) => isWithin(path, at))) places.push({ path: ELSEWHERE + path, at: path, writable })
    return { ...one, path: ELSEWHERE + path }
  })
  return { items, places }
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
