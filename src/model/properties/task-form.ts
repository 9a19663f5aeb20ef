/**
 * The kinds of task that a worker understands, as a property, so that a worker written for one protocol never gets a
 * task that it cannot read. `action`: an action by its digest. `command`: a command task. `plain`: a command task of
 * one stage with inline inputs and no standard input. `snippet`: code and its language, one file without input and
 * arguments.
 */
export const TASK_FORMS = ['action', 'command', 'plain', 'snippet'] as const
export type TaskForm = (typeof TASK_FORMS)[number]

export const TASK_FORM_PROPERTY = 'runs'
