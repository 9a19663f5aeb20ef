/**
 * Which kinds of task a worker understands, offered and asked for as a property, so that a worker written from one of the
 * protocols alone is never given what it cannot read. `action`: an action by its digest. `command`: a command task, whole.
 * `plain`: a command task of one stage whose inputs are inline files and which reads nothing. `snippet`: code and the name
 * of its language, one file that reads nothing and gets no arguments.
 */
export const TASK_FORMS = ['action', 'command', 'plain', 'snippet'] as const
export type TaskForm = (typeof TASK_FORMS)[number]

export const TASK_FORM_PROPERTY = 'runs'
