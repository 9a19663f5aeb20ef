import type { InlineFile } from '../../model/command.ts'
import type { InputStage, StagedInputs, WantedInputs } from '../inputs/stage-inputs.ts'
import type { WaitingRoom } from './waiting-room.ts'

/** Nothing was taken from a cache. */
const NOTHING: StagedInputs = { pathOf: () => undefined, [Symbol.dispose]() {} }

/**
 * Where an interpreter waits, the file of its code is there and open: a run that needs nothing else is laid out with one write. All
 * other inputs are laid out as ever, in an empty room.
 */
export const layingCode = (
  inner: InputStage,
  waitingAt: (root: string) => Pick<WaitingRoom, 'lays' | 'clear'> | undefined,
): InputStage => ({
  async stage(wanted, root, signal) {
    const waiting = waitingAt(root)
    const only = waiting && onlyFile(wanted)
    if (only !== undefined && waiting?.lays(only)) return NOTHING
    waiting?.clear()
    return await inner.stage(wanted, root, signal)
  },
})

function onlyFile({
  inputs,
  outputs,
  workingDirectory,
  placed = [],
  apart = [],
}: WantedInputs): InlineFile | undefined {
  const { root, files, uris } = inputs
  const asked =
    outputs.paths.kind === 'any' ? outputs.paths.paths : [...outputs.paths.files, ...outputs.paths.directories]
  const others = files.length - 1 + uris.length + placed.length + apart.length + asked.length
  return root === undefined && workingDirectory === '' && others === 0 ? files[0] : undefined
}
