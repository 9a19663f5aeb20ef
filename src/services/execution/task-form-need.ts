import type { CommandTask } from '../../model/command-task.ts'
import { IMAGE_PROPERTY, IMAGELESS_PROPERTY } from '../../model/image-need.ts'
import { TASK_FORM_PROPERTY, type TaskForm } from '../../model/task-form.ts'
import type { platformNeeds } from './platform-needs.ts'

type Needs = ReturnType<typeof platformNeeds>

/** The same needs, and a worker that understands this kind of task and can run it in its image, or without one. */
export const needing = (form: TaskForm, { properties, demands }: Needs): Needs => ({
  properties: [
    ...properties,
    { name: TASK_FORM_PROPERTY, value: form },
    ...(properties.some(({ name }) => name === IMAGE_PROPERTY) ? [] : [{ name: IMAGELESS_PROPERTY, value: 'yes' }]),
  ],
  demands,
})

/** Which workers it may go to, by what is in it: the fewer things, the more of them. */
export function plainestForm({ stages, inputs, isolation }: CommandTask): TaskForm {
  const [stage, ...more] = stages
  const isPlain =
    stage !== undefined &&
    more.length === 0 &&
    stage.stdin === undefined &&
    inputs.root === undefined &&
    inputs.placed.length === 0 &&
    isolation === 'none'
  return isPlain ? 'plain' : 'command'
}
