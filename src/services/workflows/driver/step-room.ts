import { invalid } from '../../../base/fault.ts'
import { isFreePlace, type RoomPlace } from '../../../model/command-task.ts'
import type { RoomItem } from '../../../stagers/lay-out.ts'
import type { Staged, ToolRoom } from '../../../workflow/tool/room.ts'

/** As every room with namespaces looks from within, on whichever worker. */
const INSIDE = '/room'
export const WORKING_DIRECTORY = 'out'
const INPUTS = 'in'
/** Files for other paths lie below this directory. */
const ELSEWHERE = 'elsewhere'

/** The room of a step; in a container its working directory may have another name. */
export const stepRoom = (outputDirectory: string | undefined): ToolRoom => ({
  outdir: outputDirectory ?? `${INSIDE}/${WORKING_DIRECTORY}`,
  tmpdir: '/tmp',
  inputsDir: `${INSIDE}/${INPUTS}`,
})

export interface LaidStep {
  readonly items: readonly RoomItem[]
  readonly places: readonly RoomPlace[]
}

/** Where in the room everything lies, and what of it a container shows in other places. */
export function laidStep({ outdir, inputsDir }: ToolRoom, staged: readonly Staged[], isContainer: boolean): LaidStep {
  const isShown = outdir !== `${INSIDE}/${WORKING_DIRECTORY}`
  const places: RoomPlace[] = isShown ? [{ path: WORKING_DIRECTORY, at: outdir, writable: true }] : []
  const items = staged.map((one): RoomItem => {
    const { path, writable } = one
    if (isWithin(path, outdir)) return { ...one, path: WORKING_DIRECTORY + path.slice(outdir.length) }
    if (isWithin(path, inputsDir)) return { ...one, path: INPUTS + path.slice(inputsDir.length) }
    if (!isContainer) throw invalid(`${path} is not in the room of the command`, 'unsupported')
    if (!isFreePlace(path)) throw invalid(`entryname: nothing can be shown at ${JSON.stringify(path)}`, 'unsupported')
    if (!places.some(({ at }) => isWithin(path, at))) places.push({ path: ELSEWHERE + path, at: path, writable })
    return { ...one, path: ELSEWHERE + path }
  })
  return { items, places }
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
