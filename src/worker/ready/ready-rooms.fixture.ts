import { type CommandTask, commandTaskOf, type StageSpec } from '../../model/command-task.ts'
import { sandboxedTools } from '../sandboxed-tools.fixture.ts'
import { type ReadyRooms, readyRooms } from './ready-rooms.ts'

export const stepOf = (stage: Partial<StageSpec>, more: Partial<CommandTask> = {}): CommandTask =>
  commandTaskOf({
    stages: [{ name: 'run', argv: ['true'], ...stage }],
    workingDirectory: 'out',
    isolation: 'namespaces',
    outputs: { globs: ['*'] },
    ...more,
  })

/** A worker's tools in sandboxes, with and without prepared rooms. */
export async function readyBench() {
  const { tools, go, namePrefix, ...bench } = await sandboxedTools('ready-test')
  const { rooms, runtime, clock } = tools
  return {
    ...bench,
    ready: (most: number): ReadyRooms =>
      readyRooms({ rooms, runtime, limits: {}, most, namePrefix: namePrefix(), clock }),
    cold: (task: CommandTask) => go(tools, task),
    /** Runs the task; `wasWaiting` is true when it took a prepared room. */
    async through(pool: ReadyRooms, task: CommandTask, signal?: AbortSignal) {
      let wasWaiting = false
      const taking = {
        take(wanted: CommandTask) {
          const before = pool.waiting
          const room = pool.take(wanted)
          wasWaiting = pool.waiting < before
          return room
        },
      }
      return { result: await go({ ...tools, ready: taking }, task, { signal }), wasWaiting }
    },
  }
}
