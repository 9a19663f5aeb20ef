import { FaultError } from '../../base/fault.ts'
import type { WorkerService } from '../../engine/workers/worker-service.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import { stageNameOf } from '../../wire/tasks/command-key.ts'
import { taskFromSpec } from '../../wire/tasks/task-spec.ts'
import type { KeptStage, StageQuestion } from '../../wire/workers/stage.ts'

/** Results of compile stages, for the workers of all protocols that hold a task with such a stage. */
export interface KeptStages {
  /** Throws `absent` when the worker does not hold the task. */
  find(question: StageQuestion): Promise<Uint8Array | undefined>
  /** Throws as `find` does. The result replaces an earlier one. */
  keep(kept: KeptStage): Promise<void>
}

export interface KeptStagesOptions {
  readonly service: Pick<WorkerService, 'held'>
  /** A cache that clients cannot access; the server computes the names of its entries, never a worker. */
  readonly resultsOf: (instance: InstanceName) => ActionCache
}

/** A worker reads and writes the stage of the task that it holds, and no other stage: the server computes the name. */
export function keptStages({ service, resultsOf }: KeptStagesOptions): KeptStages {
  const place = async (question: StageQuestion) => {
    const { task, instance } = await heldTask(service, question)
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
  service: KeptStagesOptions['service'],
  { worker, attemptId }: StageQuestion,
): Promise<TaskOfInstance> {
  const held = await service.held({ worker, attemptId })
  const task = held && taskFromSpec(held)?.task
  if (held === undefined || task?.stages[0]?.cache === undefined) {
    const what = `worker ${JSON.stringify(worker.slice(0, 200))} holds no task ${attemptId.slice(0, 200)} with a cached stage`
    throw new FaultError({ kind: 'absent', what })
  }
  return { instance: held.instance, task }
}
