import type { AttemptTools } from '../../worker/attempt/attempt-tools.ts'
import type { Executor } from '../../worker/attempt/executor.ts'
import { isolating } from '../../worker/attempt/isolating.ts'
import { localExecutor } from '../../worker/attempt/local-executor.ts'
import { inPreparedRooms } from '../../worker/attempt/prepared-rooms.ts'
import { cachingStages } from '../../worker/attempt/stage-cache.ts'
import { timed } from '../../worker/attempt/timed.ts'

/** The pipeline of every attempt on this worker. It reads from the room outwards. */
export function executorOf(tools: AttemptTools): Executor {
  const local = localExecutor(tools) // prepares a room, runs the stages, collects the outputs
  const warm = inPreparedRooms(local, [tools.warm, tools.ready]) // in a room that was made before, where one fits
  const cached = cachingStages(warm, tools) // without the compile stage, where the server has its result
  const isolated = isolating(cached, tools) // only in rooms that isolate as the task demands
  return timed(isolated, tools) // with the worker's name and times in the result
}
