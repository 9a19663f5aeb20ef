import { FaultError } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/worker-calls/worker-service.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import { stageNameOf } from '../../wire/tasks/command-key.ts'
import { taskFromSpec } from '../../wire/tasks/task-spec.ts'
import type { KeptStage, StageQuestion } from '../../wire/workers/stage.ts'

/** Results of compile stages, for workers that hold a task with such a stage, whichever protocol they speak. */
export interface KeptStages {
  /** Throws `absent` when the worker does not hold the task. */
  find(question: StageQuestion): Promise<Uint8Array | undefined>
  /** As `find`. The result replaces the one that was kept. */
  keep(kept: KeptStage): Promise<void>
}

export interface KeptStagesOptions {
  readonly desk: Pick<WorkerService, 'held'>
  /** Out of reach of every client: the worker never names an entry, the server does. */
  readonly resultsOf: (instance: InstanceName) => ActionCache
}

/** A worker reads and writes the stage of the task that it holds, and no other stage: the server computes the name. */
export function keptStages({ desk, resultsOf }: KeptStagesOptions): KeptStages {
  const place = async (question: StageQuestion) => {
    const { task, instance } = await heldTask(desk, question)
    return { instance, name: stageNameOf(task, question.conditions), results: resultsOf(instance) }
  }
  return {
    async find(question) {
      const { instance, name, results } = await place(question)
      return await results.get(instance, name)
    },
    async keep(kept) {
      const { instance, name, results } = await place(kept)
      await results.put(instance, name, Uint8Array.from(kept.result))
    },
  }
}

interface TaskOfInstance {
  readonly instance: InstanceName
  readonly task: CommandTask
}

async function heldTask(
  desk: KeptStagesOptions['desk'],
  { worker, attemptId }: StageQuestion,
): Promise<TaskOfInstance> {
  const held = await desk.held({ worker, attemptId })
  const task = held && taskFromSpec(held)?.task
  if (held === undefined || task?.stages[0]?.cache === undefined) {
    const what = `worker ${JSON.stringify(worker.slice(0, 200))} holds no task ${attemptId.slice(0, 200)} with a cached stage`
    throw new FaultError({ kind: 'absent', what })
  }
  return { instance: held.instance, task }
}
