import type { InlineFile } from '../../model/command.ts'
import { type InputStage, outputPathsOf, type StagedInputs, type TaskInputs } from '../inputs/stage-inputs.ts'
import type { WaitingRoom } from './waiting-room.ts'

/** No file of the cache is held. */
const NOTHING: StagedInputs = { pathOf: () => undefined, [Symbol.dispose]() {} }

/**
 * Writes the code of a task into the file that a waiting interpreter has open, when the task has no other input. All other
 * inputs are placed as in any empty room.
 */
export const layingCode = (
  inner: InputStage,
  waitingAt: (root: string) => Pick<WaitingRoom, 'lays' | 'clear'> | undefined,
): InputStage => ({
  async stage(task, root, signal) {
    const waiting = waitingAt(root)
    const only = waiting && onlyFile(task)
    if (only !== undefined && waiting?.lays(only)) return NOTHING
    waiting?.clear()
    return await inner.stage(task, root, signal)
  },
})

function onlyFile(task: TaskInputs): InlineFile | undefined {
  const { root, files, placed } = task.inputs
  const read = task.stages.filter(({ stdin }) => stdin?.kind === 'blob')
  const others = files.length - 1 + placed.length + read.length + outputPathsOf(task).length
  return root === undefined && task.workingDirectory === '' && others === 0 ? files[0] : undefined
}
